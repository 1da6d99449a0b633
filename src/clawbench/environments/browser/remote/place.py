"""Where in a shared browser a run takes place: a context of its own, or for want of one the default."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from clawbench.environments.browser.cdp import CdpError
from clawbench.environments.browser.remote.clock import clock_ahead
from clawbench.environments.browser.remote.connection import ContextConnection

TELL_AGAIN_S = 0.5


@dataclass(frozen=True)
class Place:
    """A browser context with a first page in it."""

    cdp: ContextConnection
    own: str | None
    """The run's own context; None where the browser refused one."""
    before: frozenset[str] = frozenset()
    """Pages that were open in the default context, and stay."""

    def abandon(self) -> None:
        """Close everything of the run at once; nothing more may be sent from it."""
        if self.own is not None:
            self.cdp.notify("Target.disposeBrowserContext", {"browserContextId": self.own})

    async def leave(self) -> None:
        """Close what the run opened, while its requests are still held; the browser itself goes on."""
        if self.cdp.closed.is_set():
            return
        if self.own is not None:
            disposed = self.cdp.call("Target.disposeBrowserContext", {"browserContextId": self.own})
            disposed.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.wait([disposed], timeout=TELL_AGAIN_S)
        await self._close_pages()

    async def _close_pages(self) -> None:
        """Until none is left: a page that is just being replaced can miss that it was closed."""
        one_gone = asyncio.Event()
        forget = self.cdp.on("Target.targetDestroyed", lambda _params, _session: one_gone.set())
        while left := await open_pages(self.cdp) - self.before:
            one_gone.clear()
            for target in left:
                self.cdp.notify("Target.closeTarget", {"targetId": target})
            with suppress(TimeoutError):
                await asyncio.wait_for(one_gone.wait(), TELL_AGAIN_S)
        forget()


async def take_place(cdp: ContextConnection, size: tuple[int, int]) -> Place:
    """Open a context with a page, and show nothing but it from now on."""
    own = await _new_context(cdp)
    before = frozenset() if own is not None else await open_pages(cdp)
    page = await _new_page(cdp, own, size)
    cdp.clock_ahead_s = await clock_ahead(cdp, page)
    info = (await cdp.send("Target.getTargetInfo", {"targetId": page}))["targetInfo"]
    cdp.enter(info.get("browserContextId", own or ""), is_default=own is None)
    return Place(cdp, own, before)


async def open_pages(cdp: ContextConnection) -> frozenset[str]:
    targets: list[dict[str, Any]] = (await cdp.send("Target.getTargets"))["targetInfos"]
    return frozenset(info["targetId"] for info in targets if info["type"] == "page")


async def _new_context(cdp: ContextConnection) -> str | None:
    """One that the browser closes when we are gone, whatever became of us."""
    try:
        created = await cdp.send("Target.createBrowserContext", {"disposeOnDetach": True})
    except CdpError:
        if cdp.closed.is_set():
            raise
        return None
    return str(created["browserContextId"])


async def _new_page(cdp: ContextConnection, context: str | None, size: tuple[int, int]) -> str:
    """In a window of its own, where the browser has windows."""
    wanted: dict[str, Any] = {"url": "about:blank"}
    if context is not None:
        wanted["browserContextId"] = context
    window = {"newWindow": True, "width": size[0], "height": size[1]}
    try:
        page = await cdp.send("Target.createTarget", wanted | window)
    except CdpError:
        page = await cdp.send("Target.createTarget", wanted)
    return str(page["targetId"])
