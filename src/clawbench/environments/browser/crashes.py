"""Pages that crash: the run goes on, and its record says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection

DISCOVER = {"discover": True, "filter": [{"type": "page"}, {"type": "iframe"}, {"exclude": True}]}


class CrashWatch:
    """Tells of every page and frame whose process ended."""

    def __init__(self, cdp: CdpConnection, on_crash: Callable[[str], None]) -> None:
        self._cdp, self._on_crash = cdp, on_crash
        self._urls: dict[str, str] = {}

    async def start(self) -> None:
        self._cdp.on("Target.targetCreated", self._seen)
        self._cdp.on("Target.targetInfoChanged", self._seen)
        self._cdp.on("Target.targetDestroyed", self._destroyed)
        self._cdp.on("Target.targetCrashed", self._crashed)
        await self._cdp.send("Target.setDiscoverTargets", DISCOVER)

    def _seen(self, params: dict[str, Any], session: str | None) -> None:
        info = params["targetInfo"]
        self._urls[info["targetId"]] = info["url"]

    def _destroyed(self, params: dict[str, Any], session: str | None) -> None:
        self._urls.pop(params["targetId"], None)

    def _crashed(self, params: dict[str, Any], session: str | None) -> None:
        url = self._urls.get(params["targetId"], "of unknown address")
        self._on_crash(f"A page crashed: {url[:200]} ({params.get('status', '')})")
