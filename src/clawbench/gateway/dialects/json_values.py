"""Reading JSON that may hold anything. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def parse(raw: bytes | str) -> Any:
    """The JSON value; None where it is none."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def parse_or_text(given: Any) -> Any:
    """What a string of JSON stands for; the string itself where it is not JSON."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing where it is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def error_text(error: Any) -> str | None:
    """What an error object says, in one line."""
    if error is None:
        return None
    message = error.get("message") if isinstance(error, Mapping) else None
    return str(message or error)


def size_of(value: Any) -> int:
    return len(json.dumps(value))
