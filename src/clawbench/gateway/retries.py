"""Which calls repeat one that failed. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

MOST_REMEMBERED = 64
_COME_AGAIN = frozenset((408, 409, 425, 429))


class Retries:
    """Remembers the last requests that failed in a way that invites another try."""

    def __init__(self) -> None:
        self._failed: dict[bytes, None] = {}

    def repeats(self, path: str, request: Mapping[str, Any]) -> bool:
        """The same was asked before, and failed."""
        return bool(self._failed) and _digest(path, request) in self._failed

    def note(self, path: str, request: Mapping[str, Any], *, failed: bool) -> None:
        """How a call ended."""
        if not failed and not self._failed:
            return
        digest = _digest(path, request)
        self._failed.pop(digest, None)
        if failed:
            self._failed[digest] = None
        if len(self._failed) > MOST_REMEMBERED:
            del self._failed[next(iter(self._failed))]


def invites_another_try(status: int | None, *, unreachable: bool) -> bool:
    return unreachable or (status is not None and (status in _COME_AGAIN or status >= 500))


def _digest(path: str, request: Mapping[str, Any]) -> bytes:
    text = f"{path}\n{json.dumps(request, sort_keys=True)}"
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
