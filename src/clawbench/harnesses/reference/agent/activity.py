"""Whether a tab is busy: frames that load and requests under way, from the browser's events."""

from __future__ import annotations

import asyncio
from typing import Any

QUIET_S = 0.25
"""Nothing under way for so long counts as quiet."""
ENDLESS = frozenset({"EventSource", "WebSocket", "Ping", "Media", "Prefetch"})


class Activity:
    def __init__(self) -> None:
        self._under_way: set[tuple[str, str]] = set()
        self._changed = asyncio.Event()

    def note(self, method: str, params: dict[str, Any], session: str) -> None:
        """Take an event into account."""
        match method:
            case "Network.requestWillBeSent" if params.get("type") not in ENDLESS:
                self._under_way.add((session, params["requestId"]))
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._under_way.discard((session, params["requestId"]))
            case "Page.frameStartedLoading":
                self._under_way.add((session, params["frameId"]))
            case "Page.frameStoppedLoading" | "Page.frameDetached":
                self._under_way.discard((session, params["frameId"]))
            case _:
                return
        self._changed.set()

    def forget(self, session: str) -> None:
        self._under_way = {entry for entry in self._under_way if entry[0] != session}
        self._changed.set()

    async def quiet(self, limit_s: float) -> bool:
        """Wait until nothing has been under way for a moment; False where the limit came first."""
        try:
            async with asyncio.timeout(limit_s):
                while await self._anything_within(None if self._under_way else QUIET_S):
                    pass
        except TimeoutError:
            return False
        return True

    async def _anything_within(self, seconds: float | None) -> bool:
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True
