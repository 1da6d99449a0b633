"""Whether a tab is busy: frames that load and requests under way, from the browser's events."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

QUIET_S = 0.25
"""Nothing under way for so long counts as quiet."""
REQUEST_COUNTS_S = 4.0
FRAME_COUNTS_S = 8.0
"""What takes longer (long polls, streams, advertisements) holds nothing up any more."""
ENDLESS = frozenset({"EventSource", "WebSocket", "Ping", "Media", "Prefetch"})


@dataclass(frozen=True)
class _Work:
    session: str
    frame: str
    counts_until: float


class Activity:
    def __init__(self) -> None:
        self._under_way: dict[str, _Work] = {}
        """By request id or, for a frame that loads, by frame id."""
        self._changed = asyncio.Event()

    def note(self, method: str, params: dict[str, Any], session: str) -> None:
        """Take an event into account."""
        now = time.monotonic()
        match method:
            case "Network.requestWillBeSent" if params.get("type") not in ENDLESS:
                work = _Work(session, params.get("frameId", ""), now + REQUEST_COUNTS_S)
                self._under_way.setdefault(params["requestId"], work)
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._under_way.pop(params["requestId"], None)
            case "Page.frameStartedLoading":
                self._under_way[params["frameId"]] = _Work(session, params["frameId"], now + FRAME_COUNTS_S)
            case "Page.frameStoppedLoading":
                self._under_way.pop(params["frameId"], None)
            case "Page.frameDetached":
                # also where it moves to another process: the rest of its loading is told there
                self._drop(frame=params["frameId"])
            case _:
                return
        self._changed.set()

    def forget(self, session: str) -> None:
        self._drop(session=session)
        self._changed.set()

    def _drop(self, *, session: str | None = None, frame: str | None = None) -> None:
        kept = ((key, w) for key, w in self._under_way.items() if w.session != session and w.frame != frame)
        self._under_way = dict(kept)

    async def quiet(self, limit_s: float) -> bool:
        """Wait until nothing has been under way for a moment; False where the limit came first."""
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    busy_s = self._busy_for()
                    if not await self._anything_within(busy_s or QUIET_S) and not busy_s:
                        return True
        except TimeoutError:
            return False

    def _busy_for(self) -> float:
        """How long what is under way still counts."""
        now = time.monotonic()
        return max(
            (work.counts_until - now for work in self._under_way.values() if work.counts_until > now),
            default=0,
        )

    async def _anything_within(self, seconds: float) -> bool:
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                return await self._changed.wait()
        except TimeoutError:
            return False
