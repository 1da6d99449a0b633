"""A managed provider as seen from outside: a browser behind a gate that wants a token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

TOKEN = "tok-7f3a9c51e8d24b60-must-not-be-seen"


@dataclass
class Provider:
    port: int
    refused: frozenset[str] = frozenset()
    """Commands that this provider does not pass on."""
    connections: int = 0
    _open: set[ServerConnection] = field(default_factory=set)

    def url(self, scheme: str = "ws", token: str = TOKEN) -> str:
        return f"{scheme}://127.0.0.1:{self.port}/?token={token}"

    def cut(self) -> None:
        """The line goes dead at both ends at once."""
        for connection in self._open:
            connection.transport.abort()


@asynccontextmanager
async def provide(browser: str, refused: frozenset[str] = frozenset()) -> AsyncIterator[Provider]:
    """Stand before the browser with this WebSocket."""

    async def let_in(_connection: ServerConnection, request: Request) -> Response | None:
        parts = urlsplit(request.path)
        if parse_qs(parts.query).get("token") != [TOKEN]:
            return _answer(HTTPStatus.FORBIDDEN, "no")
        if parts.path == "/json/version":
            inside = f"ws://localhost:9222/devtools/browser/x?token={TOKEN}"
            return _answer(HTTPStatus.OK, json.dumps({"webSocketDebuggerUrl": inside}))
        return None

    async def carry(outside: ServerConnection) -> None:
        provider.connections += 1
        provider._open.add(outside)
        async with connect(browser, max_size=None, compression=None, proxy=None) as inside:
            ways = [asyncio.ensure_future(way) for way in (_in(outside, inside), _out(inside, outside))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            inside.transport.abort()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        provider._open.discard(outside)

    async def _in(outside: ServerConnection, inside: ClientConnection) -> None:
        async for text in outside:
            message = json.loads(text)
            if message["method"] in provider.refused:
                error = {"code": -32000, "message": "Not supported by this provider"}
                await outside.send(json.dumps({"id": message["id"], "error": error}))
            else:
                await inside.send(text)

    async def _out(inside: ClientConnection, outside: ServerConnection) -> None:
        try:
            async for text in inside:
                await outside.send(text)
        except ConnectionClosed:
            pass

    async with serve(
        carry, "127.0.0.1", 0, process_request=let_in, max_size=None, compression=None
    ) as server:
        provider = Provider(server.sockets[0].getsockname()[1], refused)
        yield provider


def _answer(status: HTTPStatus, text: str) -> Response:
    headers = Headers({"Content-Length": str(len(text)), "Connection": "close"})
    return Response(status.value, status.phrase, headers, text.encode())
