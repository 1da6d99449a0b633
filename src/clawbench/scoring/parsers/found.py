"""What parsers have in common: text without colours, and one status per name. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_WEIGHT = {SKIPPED: 0, PASSED: 1, FAILED: 2}


def plain(log: str) -> str:
    """Without colours and other escapes, with one kind of line end."""
    return _ESCAPES.sub("", log).replace("\r\n", "\n").replace("\r", "\n")


def lines_of(log: str) -> list[str]:
    return plain(log).split("\n")


class Found(dict[str, str]):
    """Statuses by name. One name can stand for several tests: one that failed is not made up for."""

    def note(self, name: str, status: str) -> None:
        name = name.strip()
        known = self.get(name)
        if name and (known is None or _WEIGHT[status] > _WEIGHT[known]):
            self[name] = status


class Titles:
    """The titles around a line, by indentation."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, indent: int, title: str) -> None:
        self.leave(indent)
        self._open.append((indent, title))

    def leave(self, indent: int) -> None:
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()

    def around(self, indent: int) -> list[str]:
        return [title for depth, title in self._open if depth < indent]


def indented(line: str) -> tuple[int, str]:
    text = line.lstrip(" ")
    return len(line) - len(text), text.rstrip()


def without_duration(name: str) -> str:
    """`name (12 ms)`, `name (1.5s)`, `name [0.31 ms]` without what is in the brackets at the end."""
    return re.sub(r"\s+[(\[]\d+(?:[.,]\d+)?\s*(?:ms|s|m)[)\]]$", "", name)


def json_lines(log: str) -> Iterator[str]:
    return (line for line in lines_of(log) if line.startswith("{"))
