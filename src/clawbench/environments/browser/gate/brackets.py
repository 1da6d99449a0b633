"""Names of a form like `order[items][0]` and `tags[]`, as the nested data that servers make of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

BRACKETED = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])+)")
INDEX, ELEMENT = re.compile(r"[0-9]{1,9}"), re.compile(r"[0-9]{1,10}")
FIRST_ADDED = 10**9
"""What `[]` adds goes behind all that has an index."""
DEEPEST = 64
"""Brackets of one name; PHP goes no deeper either."""


class Level(dict[str, Any]):
    """What is in brackets after the same name, unlike the description of a file."""


class Repeated(list[Any]):
    """Values of one name."""


def nested(fields: list[tuple[str, Any]], flat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """`flat` has the same fields, with those that have one name in a list."""
    if not any("[" in name for name in flat):
        return
    seen = [flat]
    for reading in (
        unfold(flat),
        _with_lists(fields, one_by_one=True),
        _with_lists(fields, one_by_one=False),
    ):
        if reading not in seen:
            seen.append(reading)
            yield reading


def unfold(flat: dict[str, Any]) -> dict[str, Any]:
    """With members whose names are numbers where servers may have a list."""
    unfolded = Level()
    for name, value in flat.items():
        *above, last = _path(name)
        if above and not last:
            *above, last = above
        inner = unfolded
        for key in above:
            inner = inner.setdefault(key or "0", Level())
            if not isinstance(inner, Level):
                break  # a plain field has that name already
        else:
            inner.setdefault(last or "0", value)
    return unfolded


def _with_lists(fields: Iterable[tuple[str, Any]], one_by_one: bool) -> dict[str, Any]:
    """With lists where all names are numbers or `[]`.

    `one_by_one`: each `[]` adds an element, as in PHP. In Rails, members go into the last that lacks them.
    """
    top = Level()
    for number, (name, value) in enumerate(fields, FIRST_ADDED):
        path = _path(name)
        if len(path) > DEEPEST:
            path = [name]
        inner = top
        for key, below in pairwise(path):
            last = None if key or one_by_one else _last_without(inner, below)
            inner = inner.setdefault(key or last or str(number), Level())
            if not isinstance(inner, Level):
                break  # a plain field has that name already
        else:
            _add(inner, path[-1] or (str(number) if len(path) > 1 else ""), value)
    return {name: _listed(value) for name, value in top.items()}


def _last_without(level: Level, member: str) -> str | None:
    """The element that `[]` added last, if it can take this member."""
    last = next(reversed(level), "")
    added = ELEMENT.fullmatch(last) and not INDEX.fullmatch(last)
    return last if added and isinstance(level[last], Level) and member not in level[last] else None


def _add(level: Level, name: str, value: Any) -> None:
    """The same name again makes a list, as it does without brackets."""
    if name not in level:
        level[name] = value
    elif isinstance(level[name], Repeated):
        level[name].append(value)
    elif not isinstance(level[name], Level):
        level[name] = Repeated((level[name], value))


def _listed(value: Any) -> Any:
    if not isinstance(value, Level):
        return value
    inside = {key: _listed(one) for key, one in value.items()}
    if inside and all(ELEMENT.fullmatch(key) for key in inside):
        return [inside[key] for key in sorted(inside, key=int)]
    return inside


def _path(name: str) -> list[str]:
    written = BRACKETED.fullmatch(name)
    return [written[1], *written[2][1:-1].split("][")] if written else [name]
