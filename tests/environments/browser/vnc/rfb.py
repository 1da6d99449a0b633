"""Just enough RFB to send what a VNC client can send, whatever the page would allow."""

from __future__ import annotations

import struct

from websockets.asyncio.client import ClientConnection

LEFT = 1
CONTROL = 0xFFE3


class RfbClient:
    """Speaks over a view's WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._data = b""

    async def greet(self) -> tuple[int, int]:
        """Shake hands; returns the screen's size."""
        await self._read(12)
        await self._socket.send(b"RFB 003.008\n")
        (count,) = await self._read(1)
        assert 1 in await self._read(count), "no password is asked for behind the token"
        await self._socket.send(b"\x01")
        await self._read(4)
        await self._socket.send(b"\x01")
        width, height, _format, name = struct.unpack(">HH16sI", await self._read(24))
        await self._read(name)
        return width, height

    async def key(self, symbol: int, *, up: bool = True) -> None:
        for down in (1, 0) if up else (1,):
            await self._socket.send(struct.pack(">BBHI", 4, down, 0, symbol))

    async def type(self, text: str) -> None:
        for letter in text:
            await self.key(ord(letter))

    async def click(self, x: float, y: float) -> None:
        for buttons in (0, LEFT, 0):
            await self._socket.send(struct.pack(">BBHH", 5, buttons, round(x), round(y)))

    async def cut(self, text: str) -> None:
        data = text.encode("latin-1")
        await self._socket.send(struct.pack(">BxxxI", 6, len(data)) + data)

    async def answer(self) -> None:
        """Ask for a pixel and wait for it: everything sent before has been read by then."""
        await self._socket.send(struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1))
        await self._read(4)

    async def _read(self, count: int) -> bytes:
        while len(self._data) < count:
            part = await self._socket.recv()
            assert isinstance(part, bytes)
            self._data += part
        taken, self._data = self._data[:count], self._data[count:]
        return taken
