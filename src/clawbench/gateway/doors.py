"""Which API a path belongs to, and what it asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from clawbench.gateway.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect, Operation

# Twice, because some harnesses put a version behind a base URL that has one.
_VERSION = re.compile(r"((?:/v\d+(?:(?:alpha|beta)\d*)?){0,2})(/.*)")
_CALLS: tuple[tuple[str, Dialect, Operation], ...] = (
    (r"/chat/completions", CHAT, Operation.GENERATE),
    (r"/responses", RESPONSES, Operation.GENERATE),
    (r"/messages", ANTHROPIC, Operation.GENERATE),
    (r"/messages/count_tokens", ANTHROPIC, Operation.COUNT_TOKENS),
    (r"/models/[^:]+:(?:generateContent|streamGenerateContent)", GOOGLE, Operation.GENERATE),
    (r"/models/[^:]+:countTokens", GOOGLE, Operation.COUNT_TOKENS),
)


@dataclass(frozen=True)
class Door:
    """A path where a model may be asked."""

    dialect: Dialect
    operation: Operation
    path: str
    """Without the version before it."""
    version: str


@dataclass(frozen=True)
class Catalogue:
    """A path that lists models, or describes one."""

    name: str | None


def find_door(method: str, path: str) -> Door | Catalogue | None:
    """Where a request leads; None for a path that nobody serves."""
    parted = _VERSION.fullmatch(path)
    if parted is None:
        return None
    version, rest = parted[1], parted[2]
    if method == "GET" and (listed := re.fullmatch(r"/models(?:/(.+))?", rest)):
        return Catalogue(listed[1])
    if method != "POST":
        return None
    for pattern, dialect, operation in _CALLS:
        if re.fullmatch(pattern, rest):
            return Door(dialect, operation, rest, f"/{version.rpartition('/')[2]}" if version else "")
    return None


def spoken_by(path: str, headers: Mapping[str, str]) -> Dialect:
    """Whose errors a client understands that comes without a run and to no known path."""
    if "anthropic-version" in headers or "/messages" in path:
        return ANTHROPIC
    if "x-goog-api-key" in headers or "/v1beta" in path or "enerateContent" in path:
        return GOOGLE
    return RESPONSES if "/responses" in path else CHAT
