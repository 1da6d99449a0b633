"""Whether two runs did the same, whenever they did it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clawbench.results.files import read_json_lines
from clawbench.results.layout import RunDirectory

_PASSING = frozenset(("timestamp", "screenshot", "frame", "x", "y", "scrollX", "scrollY"))
"""When, and where on the screen: a click meets a page that scrolls wherever it is at that moment."""
SCROLL = "scroll"
"""The browser reports as many of these as it finds time for."""


def first_action_apart(one: RunDirectory, other: RunDirectory) -> int | None:
    """The number, from 1 on, of the first action that is not the same; None where all are."""
    first, second = (_actions(run.actions) for run in (one, other))
    for number, (mine, theirs) in enumerate(zip(first, second, strict=False), 1):
        if mine != theirs:
            return number
    return None if len(first) == len(second) else min(len(first), len(second)) + 1


def same_patch(one: RunDirectory, other: RunDirectory) -> bool:
    return _content(one.patch) == _content(other.patch)


def _actions(path: Path) -> list[dict[str, Any]]:
    lines = read_json_lines(path) if path.is_file() else ()
    return [
        {name: value for name, value in line.items() if name not in _PASSING}
        for line in lines
        if line.get("type") != SCROLL
    ]


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
