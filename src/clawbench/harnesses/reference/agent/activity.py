"""Whether a tab is busy: frames that load and requests under way, from the browser's events."""

from __future__ import annotations

import asyncio
from typing import Any

QUIET_S = 0.25
"""Nothing under way for so long counts as quiet."""
ENDLESS = frozenset({"EventSource", "WebSocket", "Ping", "Media", "Prefetch"})


class Activity:
    def __init__(self) -> None:
        self._under_way: dict[str, tuple[str, str]] = {}
        """Request or frame that loads -> session that told of it, frame."""
        self._changed = asyncio.Event()

    def note(self, method: str, params: dict[str, Any], session: str) -> None:
        """Take an event into account."""
        match method:
            case "Network.requestWillBeSent" if params.get("type") not in ENDLESS:
                self._under_way[params["requestId"]] = session, params.get("frameId", "")
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._under_way.pop(params["requestId"], None)
            case "Page.frameStartedLoading":
                self._under_way[params["frameId"]] = session, params["frameId"]
            case "Page.frameStoppedLoading":
                self._under_way.pop(params["frameId"], None)
            case "Page.frameDetached":
                self._drop(frame=params["frameId"])
            case _:
                return
        self._changed.set()

    def forget(self, session: str) -> None:
        self._drop(session=session)
        self._changed.set()

    def _drop(self, *, session: str | None = None, frame: str | None = None) -> None:
        """A frame that moves to another process is detached, and what it was loading is told there."""
        left = {key: (s, f) for key, (s, f) in self._under_way.items() if s != session and f != frame}
        self._under_way = left

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
