"""The picture of a browser without a display of ours: screencast frames of whichever page is in front."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from clawbench.environments.browser.cdp import Message
from clawbench.environments.browser.remote.canvas import Canvas, Painter
from clawbench.environments.browser.remote.connection import ContextConnection

FRAMES_PER_SECOND = 15
SETTLE_S = 0.2
"""So long after the last frame a page is asked for one more: a browser drops frames that come while earlier
ones are not acknowledged, the last of a burst as readily as any other."""

ACTIVE = "already active"


@dataclass
class View:
    """One page."""

    target: str
    latest: str = ""
    """Its last picture, as it came."""
    settling: asyncio.TimerHandle | None = None


class Screencast:
    """Films every page of the context; hidden ones send nothing. Sets each to the canvas's size."""

    def __init__(self, cdp: ContextConnection, canvas: Canvas) -> None:
        self.drawn = asyncio.Event()
        """Set with the first picture."""
        self._cdp, self._canvas = cdp, canvas
        self._loop = asyncio.get_running_loop()
        self._views: dict[str, View] = {}
        """By session; the last one is in front."""
        self._next_acknowledgement = 0.0
        self._frozen = False
        self._painter = Painter(canvas, self._on_drawn)
        cdp.on("Target.attachedToTarget", self._attached)
        cdp.on("Target.detachedFromTarget", self._detached)
        cdp.on("Page.screencastFrame", self._on_frame)
        cdp.on("Page.screencastVisibilityChanged", self._on_visibility)
        cdp.on_sent("Page.bringToFront", lambda _params, session: self._brought(cdp.target_of(session)))
        cdp.on_sent("Target.activateTarget", lambda params, _session: self._brought(params.get("targetId")))

    async def close(self) -> None:
        """Keep the last picture and take no more."""
        self._frozen = True
        for view in self._views.values():
            if view.settling is not None:
                view.settling.cancel()
        await asyncio.to_thread(self._painter.close)

    def _on_drawn(self) -> None:
        self._loop.call_soon_threadsafe(self.drawn.set)

    # -- pages -----------------------------------------------------------------------------------

    def _attached(self, params: dict[str, Any], parent: str | None) -> None:
        session, info = params["sessionId"], params["targetInfo"]
        if info["type"] != "page" or parent is not None or self._frozen:
            return
        width, height = self._canvas.size
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._cdp.notify("Page.enable", None, session)
        self._cdp.notify("Emulation.setDeviceMetricsOverride", size, session)
        self._views[session] = View(info["targetId"])
        self._film(session)

    def _film(self, session: str) -> None:
        """Start the screencast; a page that is just being replaced refuses, and is asked again."""
        width, height = self._canvas.size
        wanted = {"format": "jpeg", "quality": 90, "maxWidth": width, "maxHeight": height}

        def answered(reply: Message) -> None:
            refused = reply.get("error", {}).get("message", ACTIVE)
            if ACTIVE not in refused and session in self._views and not self._frozen:
                self._loop.call_later(SETTLE_S, self._film, session)

        if session in self._views:
            self._cdp.send_raw("Page.startScreencast", wanted, session, answered)

    def _detached(self, params: dict[str, Any], _parent: str | None) -> None:
        view = self._views.pop(params["sessionId"], None)
        if view is not None and view.settling is not None:
            view.settling.cancel()
        if view is not None:
            self._show_front()

    def _on_visibility(self, params: dict[str, Any], session: str | None) -> None:
        if params["visible"] and session in self._views:
            self._move_to_front(session)

    def _brought(self, target: str | None) -> None:
        for session in [one for one, view in self._views.items() if view.target == target]:
            self._move_to_front(session)

    def _move_to_front(self, session: str) -> None:
        if self._front == session:
            return
        self._views[session] = self._views.pop(session)
        self._show_front()

    @property
    def _front(self) -> str | None:
        return next(reversed(self._views), None)

    # -- pictures --------------------------------------------------------------------------------

    def _on_frame(self, params: dict[str, Any], session: str | None) -> None:
        if session is None or (view := self._views.get(session)) is None:
            return
        self._acknowledge(params["sessionId"], session)
        if params["data"] == view.latest:
            return
        view.latest = params["data"]
        if view.settling is not None:
            view.settling.cancel()
        view.settling = self._loop.call_later(SETTLE_S, self._settle, session)
        if session == self._front:
            self._show_front()

    def _acknowledge(self, number: int, session: str) -> None:
        """At the pace of the video: what a browser draws faster than that is not sent."""
        at = max(self._loop.time(), self._next_acknowledgement)
        self._next_acknowledgement = at + 1 / FRAMES_PER_SECOND
        acknowledgement = {"sessionId": number}
        self._loop.call_at(at, self._cdp.notify, "Page.screencastFrameAck", acknowledgement, session)

    def _settle(self, session: str) -> None:
        if session in self._views and not self._frozen:
            self._cdp.notify("Page.stopScreencast", None, session)
            self._film(session)

    def _show_front(self) -> None:
        front = self._front
        if front is not None and self._views[front].latest and not self._frozen:
            self._painter.paint(self._views[front].latest)
