"""What JSON can say and no record can hold: halves of characters, and nesting without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clawbench.errors import InputError

DEEPEST = 100
"""More than any task needs, and less than what is shown and hashed may have."""


def check_plain(value: Any, file: Path, line: int | None = None) -> None:
    """InputError, with the field, where a value was read but could not be written again."""
    for path, problem in _problems(value, ()):
        field = ".".join(path).encode("utf-8", "backslashreplace").decode()
        where = "" if line is None else f"line {line}: "
        raise InputError(where + problem, file=file, field=field, remedy="Correct the field, or leave it out")


def _problems(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str) and not _is_unicode(value):
        yield path, "is not Unicode: it holds half of a surrogate pair"
    if not isinstance(value, dict | list):
        return
    if len(path) >= DEEPEST:
        yield path, f"is nested more than {DEEPEST} deep"
        return
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        inner = (*path, str(key))
        yield from _problems(key, inner)
        yield from _problems(entry, inner)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
