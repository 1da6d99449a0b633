"""A Python pattern in the words of RE2, which Chrome's blocking rules speak. Pure.

RE2 has no lookarounds, no references back and no large counts. What it lacks is left out or widened, so that
the result matches every address that the pattern matches, perhaps more: too much is held, never too little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

LARGEST_COUNT = 1000
"""RE2 refuses more."""
NOTHING = r"[^\x00-\x{10FFFF}]"
"""Matches no character at all."""
ANYTHING = "(?s:.)"
LAST_ASCII = 0x7F
"""Chrome takes no other letters, and no address has others; but some fold into ASCII under `(?i)`."""
CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
PLACES = {
    "AT_BEGINNING": "^",
    "AT_BEGINNING_STRING": r"\A",
    "AT_END": "$",
    "AT_END_STRING": r"\z",
    "AT_BOUNDARY": r"\b",
    "AT_NON_BOUNDARY": r"\B",
}
FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}


def re2_patterns(pattern: str) -> list[str]:
    """As close as RE2 can come; then without counts, for where the first takes more memory than allowed."""
    parsed = parser.parse(pattern)
    letters = "".join(letter for flag, letter in FLAGS.items() if parsed.state.flags & flag)
    prefix = f"(?{letters})" if letters else ""
    exact, coarse = (prefix + _Writer(counts).sequence(parsed) for counts in (LARGEST_COUNT, 1))
    return list(dict.fromkeys([exact, coarse]))


class _Writer:
    """Writes a parsed pattern down again; counts above `counts` become "any number"."""

    def __init__(self, counts: int) -> None:
        self._counts = counts
        self._words: dict[str, Callable[[Any], str]] = {
            "LITERAL": lambda code: _letter(code) if code <= LAST_ASCII else ANYTHING,
            "NOT_LITERAL": lambda code: f"[^{_letter(code)}]" if code <= LAST_ASCII else ANYTHING,
            "ANY": lambda _: ".",
            "IN": _choice,
            "AT": lambda place: PLACES[str(place)],
            "BRANCH": lambda value: self._branches(value[1]),
            "SUBPATTERN": lambda value: self._group(*value),
            "ATOMIC_GROUP": lambda items: f"(?:{self.sequence(items)})",
            "MAX_REPEAT": lambda value: self._repeated(*value),
            "MIN_REPEAT": lambda value: self._repeated(*value),
            "POSSESSIVE_REPEAT": lambda value: self._repeated(*value),
            "GROUPREF": lambda _: f"{ANYTHING}*",
            "GROUPREF_EXISTS": lambda value: self._branches([value[1], value[2] or ()]),
            "FAILURE": lambda _: NOTHING,
            "ASSERT": lambda _: "",  # without its condition, more matches
            "ASSERT_NOT": lambda _: "",
        }

    def sequence(self, items: Iterable[tuple[Any, Any]]) -> str:
        return "".join(self._item(str(operation), value) for operation, value in items)

    def _item(self, operation: str, value: Any) -> str:
        write = self._words.get(operation)
        return write(value) if write else f"{ANYTHING}*"

    def _branches(self, branches: Iterable[Any]) -> str:
        return "(?:" + "|".join(self.sequence(branch) for branch in branches) + ")"

    def _group(self, _number: int | None, added: int, removed: int, items: Any) -> str:
        on = "".join(letter for flag, letter in FLAGS.items() if added & flag)
        off = "".join(letter for flag, letter in FLAGS.items() if removed & flag)
        return f"(?{on}{'-' + off if off else ''}:{self.sequence(items)})"

    def _repeated(self, least: int, most: int, items: Any) -> str:
        inner = f"(?:{self.sequence(items)})"
        if (least, most) == (0, 1):
            return f"{inner}?"
        if least > self._counts or (most != parser.MAXREPEAT and most > self._counts):
            return f"{inner}{'+' if least else '*'}"
        if most == parser.MAXREPEAT:
            return f"{inner}{ {0: '*', 1: '+'}.get(least, f'{{{least},}}') }"
        return f"{inner}{{{least},{most}}}"


def _letter(code: int) -> str:
    letter = chr(code)
    return letter if letter.isalnum() else rf"\x{code:02x}"


def _choice(members: list[tuple[Any, Any]]) -> str:
    names = [(str(operation), value) for operation, value in members]
    negated = names[0][0] == "NEGATE"
    written = [_member(operation, value) for operation, value in names if operation != "NEGATE"]
    if "" in written and not negated:
        return ANYTHING
    return f"[{'^' if negated else ''}{''.join(written)}]" if any(written) else ANYTHING


def _member(operation: str, value: Any) -> str:
    """A member of a character class; empty where it reaches beyond ASCII."""
    if operation == "CATEGORY":
        return CATEGORIES[str(value)]
    low, high = value if operation == "RANGE" else (value, value)
    if high > LAST_ASCII:
        return ""
    return _letter(low) if low == high else f"{_letter(low)}-{_letter(high)}"
