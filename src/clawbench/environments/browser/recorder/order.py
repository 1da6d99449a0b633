"""Putting events in the order in which they happened, although processes report at their own pace. Pure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PATIENCE_S = 0.1
"""How long a line waits for an earlier one of another process, while several processes are at work."""
AT_WORK_S = 2.0
"""A process that reported within this time is at work."""


@dataclass
class Pending:
    """An event in its place in the order, perhaps waiting for its true target."""

    seen: dict[str, Any]
    timestamp: int
    frame: str | None
    screenshot: str
    held: bool = False
    due: float = 0.0
    """When it has waited long enough for others."""


class Order:
    """Events by their timestamps; those of one source stay as they came."""

    def __init__(self) -> None:
        self._waiting: list[Pending] = []
        self._heard: dict[str | None, float] = {}

    def put(self, pending: Pending, source: str | None, now: float) -> float:
        """Take in an event; returns after how many seconds to ask what is ready."""
        self._heard = {name: at for name, at in self._heard.items() if now - at < AT_WORK_S}
        wait = PATIENCE_S if self._heard.keys() - {source} else 0.0
        self._heard[source] = now
        pending.due = now + wait
        insort(self._waiting, pending, key=lambda event: event.timestamp)
        return wait

    def ready(self, now: float) -> Iterator[Pending]:
        """What can be written now: all up to the first that still waits."""
        while self._waiting and not self._waiting[0].held and self._waiting[0].due <= now:
            yield self._waiting.pop(0)

    def rest(self) -> Iterator[Pending]:
        """All there is, waiting or not."""
        while self._waiting:
            yield self._waiting.pop(0)
