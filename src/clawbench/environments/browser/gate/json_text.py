"""JSON as pages send it and their servers read it: more than Python's own reader takes. Pure."""

from __future__ import annotations

import json
import math
import re
from typing import Any

JSON_START = re.compile(rb"[ \t\r\n\x00\xef\xbb\xbf\xff\xfe]*[\[{]")
"""Spaces, byte order marks, and the first half of letters of two bytes may stand before it."""
DEEPEST = 150
"""Levels: readers of what is recorded stop at 200, and the record adds some of its own."""
ALL_BUT_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
LONGEST_INTEGER = 4000
"""Digits; Python refuses to read longer ones as numbers."""


def looks_like_json(raw: bytes) -> bool:
    """Whether these bytes could be an object or a list."""
    return JSON_START.match(raw) is not None


def load_json(text: bytes | str, *, first_counts: bool = False) -> Any:
    """ValueError where it is none; RecursionError where it is, but too deep to be read.

    `first_counts`: of members with the same name, the first is taken instead of the last.
    """
    text = _as_text(text, "surrogatepass")
    value = (FIRST_COUNTS if first_counts else STRICT).decode(text)
    if _is_too_deep(text):
        raise RecursionError(f"JSON is nested deeper than {DEEPEST} levels")
    return value


def load_loosely(text: bytes | str) -> Any:
    """As forgiving servers do: NaN is text, strings may have line ends, and broken letters are replaced.

    It may be nested as deep as Python can read: such values are held against filters, never recorded.
    """
    return LOOSE.decode(_as_text(text, "replace"))


def _as_text(text: bytes | str, errors: str) -> str:
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), errors)
    return text.removeprefix("\ufeff")


def _is_too_deep(text: str) -> bool:
    """Of JSON that could be read; members count that others with the same name replaced."""
    without_escapes = text.replace("\\\\", "").replace('\\"', "")
    marks = without_escapes.encode("ascii", "replace").translate(AS_BRACKETS, ALL_BUT_MARKS)
    level = b"".join(marks.replace(b'""', b"").split(b'"')[::2])
    for _ in range(DEEPEST):
        level = level.replace(b"[]", b"")
    return bool(level)


def _first_of_each(members: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(members))


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_INTEGER else digits


def _number(digits: str) -> float | str:
    """As text where no file could hold the number it is."""
    number = float(digits)
    return number if math.isfinite(number) else digits


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


STRICT = json.JSONDecoder(parse_int=_integer, parse_float=_number, parse_constant=_no_constant)
FIRST_COUNTS = json.JSONDecoder(
    object_pairs_hook=_first_of_each,
    parse_int=_integer,
    parse_float=_number,
    parse_constant=_no_constant,
)
LOOSE = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=_number, parse_constant=str)
