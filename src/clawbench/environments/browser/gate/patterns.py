"""Which requests have to be held: those that could be the final one, and few others. Pure.

Holding a request costs time, and brings its whole body our way. So what a schema's expression can match at
all is told to the browser as wildcard patterns: always a superset, `*` where in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import hexdigits
from typing import Any

from clawbench.environments.browser.gate.spellings import odd_spellings
from clawbench.tasks import EvalSchema, Method

ANYTHING = "*"
NO_HEX, HEX = "\0", "\1"
"""One character that a wildcard cannot name: one that is in no escape, and a letter A to F in either case."""
OF_AN_ESCAPE = re.compile(r"(?<=[%*])[A-Fa-f]|(?<=[%*][0-9A-Fa-f\1])[A-Fa-f]")
"""Letters that follow a percent sign, or what could be one."""
MOST_ALTERNATIVES = 64
LARGEST_SET = 3
"""Characters in brackets that are spelled out; `*` stands for larger sets."""

ALWAYS_HELD = ("Document", "Ping", "CSPViolationReport", "Other")
"""Types of which network events miss some (downloads, beacons of pages that go away)."""

BY_SCRIPTS = "XHR"
"""The one other type that is not always a GET: XMLHttpRequest and fetch()."""


def held_requests(schema: EvalSchema) -> list[dict[str, str]]:
    """Patterns for `Fetch.enable`, of which at least one fits every request that could match the schema.

    Where a GET can be the final request, all are held: what else has to be held back is told by its headers.
    """
    if schema.method is Method.GET:
        return [{"urlPattern": ANYTHING}]
    never = schema.never_matches or schema.over_websocket
    urls = () if never else url_patterns(schema.url_pattern)
    odd = odd_spellings() if urls and urls != (ANYTHING,) else ()
    by_type = [{"urlPattern": ANYTHING, "resourceType": kind} for kind in ALWAYS_HELD]
    by_type += [{"urlPattern": url, "resourceType": BY_SCRIPTS} for url in odd]
    return [{"urlPattern": url} for url in urls] + by_type


def url_patterns(expression: str) -> tuple[str, ...]:
    """Wildcard patterns of which at least one fits every string in which `expression` is found."""
    try:
        tree = _parse(expression)
        found = _in_turn(tree, bool(tree.state.flags & re.IGNORECASE))
    except Exception:
        # The parser is the standard library's own, but not public: it may come to say what we do not know.
        return (ANYTHING,)
    wrapped = dict.fromkeys(_squeezed(f"*{one}*") for one in found)
    return (ANYTHING,) if ANYTHING in wrapped else tuple(wrapped)


def _parse(expression: str) -> Any:
    from re import _parser  # type: ignore[attr-defined]

    return _parser.parse(expression)


def _squeezed(pattern: str) -> str:
    """Letters of escapes (`%c3`) may be written in either case."""
    return re.sub(r"[*\0\1]+", ANYTHING, OF_AN_ESCAPE.sub(ANYTHING, pattern))


def _in_turn(parts: Iterable[tuple[Any, Any]], ignore_case: bool) -> list[str]:
    """All that can be where these parts stand one after the other."""
    found = [""]
    for kind, argument in parts:
        choices = _choices(str(kind), argument, ignore_case)
        if len(found) * len(choices) > MOST_ALTERNATIVES:
            choices = [ANYTHING]
        found = list(dict.fromkeys(before + choice for before in found for choice in choices))
    return found


def _choices(kind: str, argument: Any, ignore_case: bool) -> list[str]:
    found = [ANYTHING]
    match kind:
        case "LITERAL":
            found = [_literal(argument, ignore_case)]
        case "IN" if len(argument) <= LARGEST_SET and all(str(one) == "LITERAL" for one, _ in argument):
            found = [_literal(character, ignore_case) for _, character in argument]
        case "BRANCH":
            found = [choice for branch in argument[1] for choice in _in_turn(branch, ignore_case)]
        case "SUBPATTERN":
            _, added, removed, inside = argument
            ignored = (ignore_case or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            found = _in_turn(inside, ignored)
        case "ATOMIC_GROUP":
            found = _in_turn(argument, ignore_case)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if argument[0] > 0:
            _, most, inside = argument
            found = [once + ("" if most == 1 else ANYTHING) for once in _in_turn(inside, ignore_case)]
        case "AT" | "ASSERT" | "ASSERT_NOT":
            found = [""]
    return found


def _literal(code: int, ignore_case: bool) -> str:
    character = chr(code)
    plain = character.isascii() and character.isprintable() and character not in "*?\\"
    if plain and not (ignore_case and character.isalpha()):
        return character
    return HEX if character in hexdigits else NO_HEX
