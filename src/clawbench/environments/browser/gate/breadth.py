"""How much is held: what could match, and for a while all, where the network events alone would miss some."""

from __future__ import annotations

import asyncio
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.gate.patterns import held_requests
from clawbench.tasks import EvalSchema

EVERYTHING = [{"urlPattern": "*"}]
DOCUMENT, KEPT_ALIVE = "Document", "XHR"
REWRITING = "Fetch.enable"
CLOSING = frozenset({"Target.closeTarget", "Page.close"})
LEAVING_AT_MOST_S = 5.0
LEFT_S = 0.2
"""After the new document is there, the old one may still be saying goodbye in its own process."""


class Breadth:
    """Owns the patterns of the interceptor's `Fetch.enable`; whichever hold, all that could match is held."""

    def __init__(self, cdp: CdpConnection, schema: EvalSchema) -> None:
        self._cdp, self._narrow = cdp, held_requests(schema)
        self._loop = asyncio.get_running_loop()
        self._leaving = [*self._narrow, {"urlPattern": "*", "resourceType": KEPT_ALIVE}]
        self._for_good = self._narrow == EVERYTHING
        self._narrowing: asyncio.TimerHandle | None = None
        self._popups: set[str] = set()
        """Sessions of pages that scripts opened and scripts may close, without a word to us."""

    async def start(self) -> None:
        """Return when requests are held."""
        self._cdp.on("Page.frameNavigated", self._navigated)
        self._cdp.on("Target.attachedToTarget", self._attached)
        self._cdp.on("Target.detachedFromTarget", self._detached)
        self._cdp.on_close(self._stop_waiting)
        await self._cdp.send("Fetch.enable", {"patterns": self._narrow})

    def paused(self, resource_type: str) -> None:
        """Before a document goes on: the one in whose place it comes may send with its last breath."""
        if resource_type == DOCUMENT:
            self._widen(LEAVING_AT_MOST_S)

    def commanded(self, method: str) -> None:
        """Before a command of the agent is carried out."""
        if method == REWRITING:
            self._widen(None)  # what it makes of requests is only seen where they are held
        elif method in CLOSING:
            self._widen(LEAVING_AT_MOST_S)

    def _navigated(self, params: dict[str, Any], _session: str | None) -> None:
        if self._narrowing is not None and "parentId" not in params["frame"]:
            self._wait(LEFT_S)

    def _attached(self, params: dict[str, Any], _session: str | None) -> None:
        info = params["targetInfo"]
        if info["type"] == "page" and "openerId" in info:
            self._popups.add(params["sessionId"])
            self._widen(LEAVING_AT_MOST_S)

    def _detached(self, params: dict[str, Any], _session: str | None) -> None:
        if params["sessionId"] in self._popups:
            self._popups.discard(params["sessionId"])
            self._widen(LEAVING_AT_MOST_S)

    def _widen(self, for_s: float | None) -> None:
        if self._for_good:
            return
        if for_s is None:
            self._for_good = True
            self._stop_waiting()
            self._cdp.notify("Fetch.enable", {"patterns": EVERYTHING})
            return
        if self._narrowing is None:
            self._cdp.notify("Fetch.enable", {"patterns": self._leaving})
        self._wait(for_s)

    def _wait(self, for_s: float) -> None:
        self._stop_waiting()
        self._narrowing = self._loop.call_later(for_s, self._narrow_again)

    def _narrow_again(self) -> None:
        self._narrowing = None
        if not self._popups:
            self._cdp.notify("Fetch.enable", {"patterns": self._narrow})

    def _stop_waiting(self) -> None:
        if self._narrowing is not None:
            self._narrowing.cancel()
            self._narrowing = None
