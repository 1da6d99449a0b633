"""One CDP connection: commands with their answers, events to whoever listens, and its end."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from .background import in_thread
from .tools import ToolError

COMMAND_WITHIN_S = 30.0
SOCKET: dict[str, Any] = {
    "max_size": None,
    "compression": None,
    "ping_interval": None,
    "close_timeout": 1,
    "proxy": None,
}

EventHandler = Callable[[str, dict[str, Any], str | None], None]
"""Called with method, params and session id of every event."""


class CdpError(ToolError):
    """The browser refused a command."""


class BrowserGone(Exception):
    """The connection has ended: the browser, or the run, is over."""


class Cdp:
    def __init__(self, socket: ClientConnection, on_event: EventHandler) -> None:
        self._socket, self._on_event = socket, on_event
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._acting: dict[int, str | None] = {}
        """Clicks and keys under way, and the session of each: what they do can close their own page."""
        self._last_id = 0
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, address: str, on_event: EventHandler) -> Cdp:
        """Connect to the browser whose `/json/version` is at `address`."""
        try:
            url = await in_thread(lambda: _websocket_url(address))
            socket = await connect(url, **SOCKET)
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            raise BrowserGone(f"no browser answers at {address} ({error!r})") from None
        return cls(socket, on_event)

    async def call(
        self, method: str, params: dict[str, Any] | None = None, session: str | None = None
    ) -> dict[str, Any]:
        future = await self._send(method, params, session)
        try:
            async with asyncio.timeout(COMMAND_WITHIN_S):
                return await future
        except TimeoutError:
            raise CdpError(f"{method}: the browser did not answer in {COMMAND_WITHIN_S:g} s") from None

    async def _send(
        self, method: str, params: dict[str, Any] | None, session: str | None
    ) -> asyncio.Future[dict[str, Any]]:
        if self._reader.done():
            raise BrowserGone("the connection to the browser has ended")
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        future = self._waiting[self._last_id] = asyncio.get_running_loop().create_future()
        if method.startswith("Input."):
            self._acting[self._last_id] = session
        try:
            await self._socket.send(json.dumps(message))
        except ConnectionClosed:
            raise BrowserGone("the connection to the browser has ended") from None
        return future

    async def ended(self) -> None:
        """Returns when the connection has ended."""
        await asyncio.wait([self._reader])

    async def close(self) -> None:
        await self._socket.close()
        await self.ended()

    async def _read(self) -> None:
        try:
            async for text in self._socket:
                self._receive(json.loads(text))
        except ConnectionClosed:
            pass
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(BrowserGone("the connection to the browser has ended"))
                    future.exception()  # nobody may be left to ask for it
            self._waiting.clear()

    def _receive(self, message: dict[str, Any]) -> None:
        future = self._waiting.pop(message.get("id", -1), None)
        self._acting.pop(message.get("id", -1), None)
        if future is None:
            if message.get("method") == "Target.detachedFromTarget":
                self._closed(message["params"]["sessionId"])
            if "method" in message:
                self._on_event(message["method"], message.get("params", {}), message.get("sessionId"))
        elif future.done():
            return
        elif "error" in message:
            future.set_exception(CdpError(f"the browser refused: {message['error'].get('message')}"))
        else:
            future.set_result(message.get("result", {}))

    def _closed(self, session: str) -> None:
        """A page that is gone answers no more: it has been clicked."""
        for number in [number for number, of in self._acting.items() if of == session]:
            self._receive({"id": number})


def _websocket_url(address: str) -> str:
    url = urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=COMMAND_WITHIN_S)
    try:
        connection.request("GET", "/json/version")
        return str(json.loads(connection.getresponse().read())["webSocketDebuggerUrl"])
    finally:
        connection.close()
