"""Whether somebody is at the screen, and waiting until they have left for good."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Presence:
    """Counts the open connections of a view."""

    def __init__(self) -> None:
        self._count = 0
        self._here, self._away = asyncio.Event(), asyncio.Event()

    @property
    def here(self) -> bool:
        return self._here.is_set()

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Somebody is here as long as the block lasts."""
        self._count += 1
        self._here.set()
        self._away.clear()
        try:
            yield
        finally:
            self._count -= 1
            if self._count == 0:
                self._here.clear()
                self._away.set()

    async def left(self, grace_s: float) -> None:
        """Return when nobody has been here for `grace_s`; before the first visit, nobody can leave."""
        await self._here.wait()
        while True:
            await self._away.wait()
            try:
                await asyncio.wait_for(self._here.wait(), grace_s)
            except TimeoutError:
                return
