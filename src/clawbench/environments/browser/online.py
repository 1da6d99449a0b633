"""Tells pages that they are online: a browser that sees no network but loopback believes the opposite."""

from __future__ import annotations

from typing import Any

from clawbench.environments.browser.cdp import CdpConnection

STATE = {"offline": False, "latency": 0, "downloadThroughput": 1e9, "uploadThroughput": -1}
"""Differs from the default in one figure, without which it is no override. Nothing is slowed by it."""


class Online:
    """`navigator.onLine` for every target; a document that takes over a process loses it, so it is told."""

    def __init__(self, cdp: CdpConnection) -> None:
        self._cdp = cdp
        self._sessions: set[str] = set()
        cdp.on("Page.frameNavigated", self._navigated)
        cdp.on("Target.detachedFromTarget", self._detached)

    def tell(self, session: str) -> None:
        """A session whose target does not run yet, with its Network domain on."""
        self._sessions.add(session)
        self._cdp.notify("Network.overrideNetworkState", STATE, session)

    def _navigated(self, params: dict[str, Any], session: str | None) -> None:
        if session in self._sessions and "parentId" not in params["frame"]:
            self._cdp.notify("Network.overrideNetworkState", STATE, session)

    def _detached(self, params: dict[str, Any], _parent: str | None) -> None:
        self._sessions.discard(params["sessionId"])
