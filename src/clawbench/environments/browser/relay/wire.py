"""One connection of a client: plain HTTP for the few CDP endpoints, or a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

log = logging.getLogger(__name__)

LARGEST_HEAD = 64 << 10
LARGEST_MESSAGE = 256 << 20
LARGEST_BACKLOG = 512 << 20
"""A client that does not read what it asked for is cut off here."""


@dataclass(frozen=True)
class Head:
    """The first lines of an HTTP request."""

    method: str
    path: str
    headers: dict[str, str]

    @property
    def wants_socket(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"


@dataclass(frozen=True)
class Reply:
    status: HTTPStatus
    body: bytes = b""
    kind: str = "application/json; charset=UTF-8"


class Listener(Protocol):
    """Who hears what a WebSocket client says."""

    def received(self, text: bytes) -> None: ...

    def gone(self) -> None: ...


Accept = Callable[[Head, "Wire"], Awaitable[Reply | Listener]]
"""Answers a request: with a Reply, or for a WebSocket with its Listener."""


class Wire(asyncio.Protocol):
    """Reads the head of a request, asks `accept` what to do with it, and carries messages both ways."""

    def __init__(self, accept: Accept) -> None:
        self._accept = accept
        self._pending = bytearray()
        self._parts: list[bytes] = []
        self._socket: ServerProtocol | None = None
        self._listener: Listener | None = None
        self._deciding: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    def send(self, text: bytes) -> None:
        """Send a message, in the order of calls."""
        if self._socket is None or self._transport is None or self._socket.state is not State.OPEN:
            return
        self._socket.send_text(text)
        self._flush()
        if self._transport and self._transport.get_write_buffer_size() > LARGEST_BACKLOG:
            self._transport.abort()

    def close(self) -> None:
        """Say goodbye and end the connection."""
        if self._socket is not None and self._socket.state is State.OPEN:
            self._socket.send_close(1001)
            self._flush()
        if self._transport is not None:
            self._transport.close()

    # -- asyncio.Protocol ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        if self._deciding is not None:
            self._deciding.cancel()
        if self._listener is not None:
            self._listener.gone()

    def data_received(self, data: bytes) -> None:
        if self._socket is not None:
            self._feed(data)
            return
        self._pending += data
        if self._deciding is None and b"\r\n\r\n" in self._pending:
            self._deciding = asyncio.ensure_future(self._decide())
        elif self._deciding is None and len(self._pending) > LARGEST_HEAD and self._transport:
            self._transport.abort()

    # -- the first request -----------------------------------------------------------------------

    async def _decide(self) -> None:
        head = parse_head(bytes(self._pending))
        try:
            answer = Reply(HTTPStatus.BAD_REQUEST) if head is None else await self._accept(head, self)
        except Exception:
            log.exception("a client of the relay could not be served")
            answer = Reply(HTTPStatus.INTERNAL_SERVER_ERROR)
        if self._transport is None:
            if not isinstance(answer, Reply):
                answer.gone()
            return
        if isinstance(answer, Reply):
            self._transport.write(render(answer))
            self._transport.close()
            return
        self._listener = answer
        self._socket = ServerProtocol(max_size=LARGEST_MESSAGE)
        self._feed(bytes(self._pending))
        self._pending.clear()

    # -- a WebSocket -----------------------------------------------------------------------------

    def _feed(self, data: bytes) -> None:
        assert self._socket is not None
        self._socket.receive_data(data)
        for event in self._socket.events_received():
            if isinstance(event, Request):
                self._socket.send_response(self._socket.accept(event))
            elif isinstance(event, Frame):
                self._on_frame(event)
        self._flush()
        if self._transport is not None and self._socket.close_expected():
            self._transport.close()

    def _on_frame(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if frame.fin and self._listener is not None:
            message = b"".join(self._parts)
            self._parts.clear()
            self._listener.received(message)

    def _flush(self) -> None:
        assert self._socket is not None
        for data in self._socket.data_to_send():
            if self._transport is None:
                return
            if data:
                self._transport.write(data)
            elif self._transport.can_write_eof():
                with contextlib.suppress(OSError):
                    self._transport.write_eof()


def parse_head(data: bytes) -> Head | None:
    """None where this is no HTTP request."""
    lines = data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    pairs = (line.partition(":") for line in lines[1:])
    return Head(words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs})


def render(reply: Reply) -> bytes:
    head = (
        f"HTTP/1.1 {reply.status.value} {reply.status.phrase}\r\nContent-Type: {reply.kind}\r\n"
        f"Content-Length: {len(reply.body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + reply.body
