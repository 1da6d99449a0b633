"""A browser that says nonsense, or ends, while its bytes are on the way out: nothing leaves."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.gate.egress import Egress
from clawbench.environments.browser.pipe import PipeTransport
from clawbench.environments.browser.protocol import EgressRules

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Wires:
    """A connection, and the browser's ends of it."""

    def __init__(self) -> None:
        self.from_us, our_write = os.pipe()
        our_read, self.to_us = os.pipe()
        self.pipe = PipeTransport(our_read, our_write)
        self.cdp = CdpConnection(self.pipe)

    def close(self) -> None:
        self.cdp.close()
        os.close(self.from_us)


async def test_what_is_no_message_ends_the_connection() -> None:
    wires = Wires()
    heard: list[str] = []
    wires.cdp.on("Fetch.requestPaused", lambda params, _: heard.append(params["requestId"]))
    first = b'{"method":"Fetch.requestPaused","params":{"requestId":"1"}}\0'
    os.write(wires.to_us, first + b"{ no message\0" + first.replace(b'"1"', b'"2"'))
    await asyncio.wait_for(wires.cdp.closed.wait(), 5)
    assert heard == ["1"]
    os.close(wires.to_us)
    wires.close()


@asynccontextmanager
async def connected(egress: Egress, path: Path) -> AsyncIterator[tuple[socket.socket, asyncio.Queue[bytes]]]:
    """A tunnel to a site that keeps what arrives."""
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            arrived.put_nowait(data)
        writer.close()

    server = await asyncio.start_unix_server(serve, str(path))
    listener = socket.create_server(("127.0.0.1", 0))
    await egress.serve(listener)
    loop = asyncio.get_running_loop()
    browser = socket.create_connection(listener.getsockname())
    browser.setblocking(False)
    await loop.sock_sendall(browser, b"\x05\x01\x00")
    assert await loop.sock_recv(browser, 2) == b"\x05\x00"
    await loop.sock_sendall(browser, b"\x05\x01\x00\x03\x04shop\x00\x50")
    assert (await loop.sock_recv(browser, 10))[1] == 0
    try:
        yield browser, arrived
    finally:
        browser.close()
        egress.close()
        server.close()
        await asyncio.sleep(0.05)  # for the server's last reader to see the end


@pytest.mark.parametrize("last_words", [b"", b"{ no message\0", b'{"method":"Inspector.detached"}\0'])
async def test_bytes_that_come_with_the_end_of_the_connection_do_not_leave(
    last_words: bytes, tmp_path: Path
) -> None:
    """Both are readable at once, the bytes first: as when the session was late and the browser let go."""
    wires = Wires()
    egress = Egress(
        EgressRules(routes={"shop": tmp_path / "site.sock"}, internet=False),
        before_sending=wires.pipe.catch_up,
    )
    wires.cdp.on_close(egress.close)
    async with connected(egress, tmp_path / "site.sock") as (browser, arrived):
        browser.send(b"before")
        assert await asyncio.wait_for(arrived.get(), 5) == b"before"
        browser.send(b"let go")
        os.write(wires.to_us, last_words)
        os.close(wires.to_us)
        await asyncio.wait_for(wires.cdp.closed.wait(), 5)
        await asyncio.sleep(0.05)
        assert arrived.empty()
    wires.close()
