"""The harness's side of one request: reading it, and answering in its API's error shape."""

from __future__ import annotations

import json
from typing import Any

from starlette.types import Receive, Scope, Send

from clawbench.gateway.dialects import Dialect
from clawbench.gateway.upstream import Headers

LARGEST_BODY = 50 * 1024 * 1024
_DRAIN = 4 * LARGEST_BODY


class TooLargeError(Exception):
    """The request's body is over the limit."""


class HungUpError(Exception):
    """The harness closed the connection."""


class Wire:
    """One answer on its way to the harness."""

    def __init__(self, send: Send, dialect: Dialect) -> None:
        self._send, self._dialect = send, dialect
        self.started = False

    async def start(self, status: int, headers: Headers) -> None:
        self.started = True
        raw = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def chunk(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def json(self, status: int, payload: Any) -> None:
        data = json.dumps(payload).encode()
        await self.start(status, [("content-type", "application/json"), ("content-length", str(len(data)))])
        await self.chunk(data)
        await self.end()

    async def error(self, status: int, message: str, code: str) -> None:
        await self.json(status, self._dialect.error_body(status, message, code))


def headers_of(scope: Scope) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body. One that is too large is read to its end, so that the client sees the answer."""
    chunks: list[bytes] = []
    size, more = 0, True
    while more and size <= _DRAIN:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUpError
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
        if size <= LARGEST_BODY:
            chunks.append(message.get("body", b""))
    if size > LARGEST_BODY:
        raise TooLargeError
    return b"".join(chunks)


async def hung_up(receive: Receive) -> None:
    """Wait until the harness closes the connection (or has its whole answer)."""
    while (await receive())["type"] != "http.disconnect":
        pass
