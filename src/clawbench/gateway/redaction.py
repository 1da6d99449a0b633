"""Masking keys in what passes by, without changing its length. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

SHORTEST_SECRET = 16
"""Shorter keys are placeholders for local servers (`x`, `EMPTY`, `ollama`): masking them would spoil text."""


class Redactor:
    """Replaces each secret by as many asterisks; a stream keeps its length and its pace."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
        self._encoded = [secret.encode() for secret in self._secrets]
        self._held = b""

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def fresh(self) -> Redactor:
        """One for another stream."""
        return Redactor(self._secrets)

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "*" * len(secret))
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every string masked."""
        # Most hold no secret: to see that in their text is ten times faster than to look at every string.
        written = json.dumps(value, ensure_ascii=False) if self._secrets else ""
        return self._masked(value) if any(json.dumps(s)[1:-1] in written for s in self._secrets) else value

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._masked(item) for item in value]
        if isinstance(value, dict):
            return {self.text(str(name)): self._masked(item) for name, item in value.items()}
        return value

    def feed(self, chunk: bytes) -> bytes:
        """What of the stream may go on now; an end that could be the start of a secret is held back."""
        data = self._held + chunk
        for secret in self._encoded:
            data = data.replace(secret, b"*" * len(secret))
        held = max((_overlap(data, secret) for secret in self._encoded if data[-1:] in secret), default=0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def rest(self) -> bytes:
        """What was held back when the stream ended."""
        held, self._held = self._held, b""
        return held


def _overlap(data: bytes, secret: bytes) -> int:
    """Length of the longest end of `data` that is a proper start of `secret`."""
    longest = min(len(data), len(secret) - 1)
    return next((size for size in range(longest, 0, -1) if data.endswith(secret[:size])), 0)
