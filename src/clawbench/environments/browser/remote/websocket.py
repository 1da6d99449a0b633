"""CDP over a WebSocket: messages are handed on the moment they are whole, as bytes, and parsed once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State

OPEN_WITHIN_S = 60.0
"""Managed providers start a browser while we wait."""
PING_EVERY_S = 15.0
"""A browser that answers no ping for as long is gone."""
DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class _Socket(ClientConnection):
    """The library's connection without its queue: no task switch and no decoding per message."""

    on_frame: Callable[[Frame], None] | None = None
    on_lost: Callable[[], None] | None = None

    def process_event(self, event: Event) -> None:
        if isinstance(event, Frame) and event.opcode in DATA:
            if self.on_frame is not None:
                self.on_frame(event)
            return
        super().process_event(event)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def write(self, message: bytes) -> None:
        if self.protocol.state is State.OPEN:
            self.protocol.send_text(message)
            self.send_data()

    def leave(self) -> None:
        if self.protocol.state is State.OPEN:
            self.protocol.send_close(1000)
            self.send_data()
        self.transport.close()


class WebSocketTransport:
    """Carries CDP messages over one WebSocket, which it owns."""

    def __init__(self, socket: _Socket) -> None:
        self._socket = socket
        self._parts: list[bytes] = []
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, direct: bool) -> WebSocketTransport:
        """Connect; `direct` past any proxy the environment names. Raises what the library raises."""
        socket = await connect(
            url,
            create_connection=_Socket,
            max_size=None,
            compression=None,
            open_timeout=OPEN_WITHIN_S,
            ping_interval=PING_EVERY_S,
            ping_timeout=PING_EVERY_S,
            proxy=None if direct else True,
        )
        assert isinstance(socket, _Socket)
        return cls(socket)

    def start(self, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._socket.on_frame, self._socket.on_lost = self._on_frame, self._on_lost
        if self._socket.protocol.state is not State.OPEN:
            self._socket.loop.call_soon(self._on_lost)

    def write(self, message: bytes) -> None:
        with suppress(OSError):
            self._socket.write(message)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            with suppress(OSError):
                self._socket.leave()

    def _on_frame(self, frame: Frame) -> None:
        if self._closed:
            return
        if frame.fin and not self._parts:
            self._on_message(bytes(frame.data))
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            message = b"".join(self._parts)
            self._parts.clear()
            self._on_message(message)

    def _on_lost(self) -> None:
        if not self._closed:
            self._on_end()
