"""`${name}` and `${name:int}` in what a policy says. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\$(?P<escaped>\$\{)|\$\{(?P<name>[A-Za-z_]\w*)(?::(?P<type>\w+))?\}")
TYPES = {"int": int, "float": float}


def placeholders(value: Any) -> Iterator[tuple[str, str | None]]:
    """Name and type of every placeholder in a string or in the strings of a JSON value."""
    if isinstance(value, str):
        for found in _PLACEHOLDER.finditer(value):
            if not found["escaped"]:
                yield found["name"], found["type"]
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from placeholders(item)
    elif isinstance(value, list):
        for item in value:
            yield from placeholders(item)


def fill(value: Any, found: Mapping[str, str]) -> Any:
    """The value with its placeholders replaced; a typed one that stands alone becomes a number."""
    if isinstance(value, Mapping):
        return {name: fill(item, found) for name, item in value.items()}
    if isinstance(value, list):
        return [fill(item, found) for item in value]
    if not isinstance(value, str):
        return value
    alone = _PLACEHOLDER.fullmatch(value)
    if alone and alone["type"]:
        return TYPES[alone["type"]](found[alone["name"]])
    return _PLACEHOLDER.sub(lambda match: "${" if match["escaped"] else found[match["name"]], value)
