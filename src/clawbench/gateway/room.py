"""How many calls may be under way at once below a cap: no more than what is left of it will pay for."""

from __future__ import annotations

import asyncio
import contextlib

FIRST_ALONE_S = 20.0
"""While no call has shown what one takes, others wait for the first to end; but not for ever."""


class Room:
    """Calls under way that draw on one cap, and the largest share of it that one took so far."""

    def __init__(self) -> None:
        self.under_way = 0
        self._largest: float | None = None
        self._waiting: list[asyncio.Event] = []

    def begin(self) -> None:
        self.under_way += 1

    def learn(self, share: float | None) -> None:
        """What part of the cap a call took."""
        if share is not None:
            self._largest = max(share, self._largest or 0.0)

    def end(self) -> None:
        self.under_way -= 1
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            event.set()

    def crowded(self, spent: float, *, patient: bool) -> bool:
        """With `spent` of the cap gone, those under way may take the rest."""
        if self.under_way == 0:
            return False
        if self._largest is None:
            return patient
        return spent + self.under_way * self._largest >= 1

    async def next_end(self, patience_s: float) -> None:
        event = asyncio.Event()
        self._waiting.append(event)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await event.wait()
