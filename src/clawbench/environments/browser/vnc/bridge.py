"""Bytes between a browser's WebSocket and the unix socket on which the session shows its screen."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from starlette.websockets import WebSocket

from clawbench.environments.browser.vnc.held import HeldDown

CHUNK = 256 * 1024


async def join(websocket: WebSocket, screen: Path) -> None:
    """Pass everything on until one side ends; the WebSocket has been accepted."""
    reader, writer = await asyncio.open_unix_connection(str(screen), limit=CHUNK)
    held = HeldDown()
    pumps = [
        asyncio.ensure_future(_to_browser(reader, websocket)),
        asyncio.ensure_future(_to_screen(websocket, writer, held)),
    ]
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        writer.write(held.releases())  # a connection that breaks says nothing of keys that come up later
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _to_browser(reader: asyncio.StreamReader, websocket: WebSocket) -> None:
    while data := await reader.read(CHUNK):
        await websocket.send_bytes(data)


async def _to_screen(websocket: WebSocket, writer: asyncio.StreamWriter, held: HeldDown) -> None:
    async for data in websocket.iter_bytes():
        held.sent(data)
        writer.write(data)
        await writer.drain()
