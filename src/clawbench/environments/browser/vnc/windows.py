"""The recorded browser's windows: no window manager runs there, so the page offers them to the person."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed, WebSocketException

SEEN = ("Target.targetCreated", "Target.targetInfoChanged")


@dataclass(frozen=True)
class Window:
    """A window, known by the page in it that was last seen to change."""

    target: str
    title: str


@dataclass
class Arrangement:
    """Which page is in which window, from what the browser says. Pure."""

    titles: dict[str, str] = field(default_factory=dict)
    """Page -> title; the page that changed last comes last."""
    windows: dict[str, int] = field(default_factory=dict)
    """Page -> window."""

    def note(self, event: dict[str, Any]) -> str | None:
        """Take in an event; returns the page whose window has to be asked for."""
        info = event["params"].get("targetInfo", {})
        if event["method"] == "Target.targetDestroyed":
            self.forget(event["params"]["targetId"])
        elif event["method"] in SEEN and info["type"] == "page":
            target: str = info["targetId"]
            self.titles.pop(target, None)
            self.titles[target] = info["title"] or info["url"]
            return target
        return None

    def forget(self, target: str) -> None:
        self.titles.pop(target, None)
        self.windows.pop(target, None)

    def listed(self) -> list[Window]:
        """One entry per window, oldest window first."""
        latest: dict[int, Window] = {}
        for target, title in self.titles.items():
            if target in self.windows:
                latest[self.windows[target]] = Window(target, title)
        order = list(dict.fromkeys(self.windows.values()))
        return [latest[window] for window in order if window in latest]


class Windows:
    """Follows the windows over the session's relay, under the rules that an agent would have."""

    def __init__(self, relay: Path, on_change: Callable[[list[Window]], None]) -> None:
        self._relay, self._on_change = relay, on_change
        self._arrangement = Arrangement()
        self._socket: ClientConnection | None = None
        self._asked: dict[int, str] = {}
        self._number = 0
        self._shown: list[Window] = []

    async def follow(self) -> None:
        """Until the session ends."""
        transport = httpx.AsyncHTTPTransport(uds=str(self._relay))
        with suppress(OSError, httpx.HTTPError, WebSocketException):
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                version = (await client.get("/json/version")).json()
            address = f"ws://localhost{urlsplit(version['webSocketDebuggerUrl']).path}"
            async with unix_connect(str(self._relay), address, compression=None, max_size=None) as socket:
                self._socket = socket
                await self._send("Target.setDiscoverTargets", discover=True)
                async for text in socket:
                    await self._take(json.loads(text))

    async def raise_window(self, target: str) -> None:
        await self._send("Target.activateTarget", targetId=target)

    async def close_window(self, target: str) -> None:
        await self._send("Target.closeTarget", targetId=target)

    async def _send(self, method: str, **params: Any) -> int:
        self._number += 1
        if self._socket is not None:
            with suppress(ConnectionClosed):
                await self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        return self._number

    async def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            target = self._asked.pop(message["id"], None)
            if target is not None and "result" in message:
                self._arrangement.windows[target] = message["result"]["windowId"]
        elif (target := self._arrangement.note(message)) is not None:
            self._asked[await self._send("Browser.getWindowForTarget", targetId=target)] = target
        shown = self._arrangement.listed()
        if shown != self._shown:
            self._shown = shown
            self._on_change(shown)
