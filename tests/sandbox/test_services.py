"""Services are brought in on the given ports only, and a bridge carries them without loss."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from clawbench.errors import SandboxError
from clawbench.sandbox import Bridge, Command, Limits, PassedConnections
from clawbench.sandbox.interpreter import base_interpreter

pytestmark = pytest.mark.anyio
PYTHON = str(base_interpreter())
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def hash_of_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers only after the client has closed its half: a lost half-close would hang."""
    writer.write(hashlib.sha256(await reader.read()).hexdigest().encode())
    await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def served(path: Path, answer: Answer) -> AsyncIterator[list[int]]:
    """A unix server; the list counts its open connections."""
    connections: list[int] = []

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(id(writer))
        try:
            await answer(reader, writer)
        except OSError:
            pass
        finally:
            connections.remove(id(writer))
            writer.close()

    server = await asyncio.start_unix_server(counted, path)
    try:
        yield connections
    finally:
        server.close()


CLIENTS = """
import hashlib, os, socket, sys, threading
wrong = []
def one(number):
    data = os.urandom(20_000 + number)
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    if answer.decode() != hashlib.sha256(data).hexdigest():
        wrong.append(number)
threads = [threading.Thread(target=one, args=(number,)) for number in range(200)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(len(wrong))
"""


async def test_200_parallel_connections_through_a_bridge(opener: Any, provider: str, tmp_path: Path) -> None:
    sandbox = opener(provider)
    port = sandbox.free_port(8787)
    async with served(tmp_path / "service", hash_of_all) as connections:
        command = Command(
            [PYTHON, "-c", CLIENTS, str(port)], listen={"gateway": port}, stderr=tmp_path / "err"
        )
        process = await sandbox.start(command)
        bridge = Bridge(process.listeners["gateway"], tmp_path / "service")
        bridge.start()
        ended = await process.wait()
        assert ended.exit_code == 0, (tmp_path / "err").read_text()
        await bridge.close()
        assert connections == []
    await sandbox.close()


async def test_only_the_given_ports_answer(opener: Any, tmp_path: Path) -> None:
    source = """
import socket, sys
for port in range(1, 65536):
    with socket.socket() as client:
        client.settimeout(5)
        answered = client.connect_ex(("127.0.0.1", port)) == 0
        if answered and client.getsockname() != client.getpeername():  # TCP can connect to itself
            print(port)
"""
    sandbox = opener()
    out = tmp_path / "out"
    command = Command([PYTHON, "-c", source], listen={"gateway": 8787, "cdp": 9222}, stdout=out)
    process = await sandbox.start(command)
    assert set(process.listeners) == {"gateway", "cdp"}
    assert process.listeners["cdp"].getsockname() == ("127.0.0.1", 9222)
    assert (await process.wait()).exit_code == 0
    assert out.read_text().split() == ["8787", "9222"]
    await sandbox.close()


async def test_listeners_are_there_before_the_program(opener: Any, provider: str) -> None:
    sandbox = opener(provider)
    port = sandbox.free_port(8788)
    source = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=1).close()"
    process = await sandbox.start(Command([PYTHON, "-c", source], listen={"a": port}))
    assert (await process.wait()).exit_code == 0
    assert process.listeners["a"].fileno() == -1
    await sandbox.close()


async def test_two_sandboxes_do_not_see_each_others_ports(opener: Any, tmp_path: Path) -> None:
    first, second = opener(), opener()
    holder = await first.start(Command(["sleep", "30"], listen={"a": 8787}))
    source = "import socket; exit(socket.socket().connect_ex(('127.0.0.1', 8787)) == 0)"
    process = await second.start(Command([PYTHON, "-c", source]))
    assert (await process.wait()).exit_code == 0
    await holder.end()
    await first.close()
    await second.close()


async def test_port_that_is_taken_is_said_clearly(opener: Any) -> None:
    sandbox = opener("none")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert sandbox.free_port(port) != port
        with pytest.raises(SandboxError, match=f"port {port} .*in use"):
            await sandbox.start(Command(["true"], listen={"a": port}))
    await sandbox.close()


@contextlib.asynccontextmanager
async def bridged(target: Path) -> AsyncIterator[tuple[Bridge, tuple[str, int]]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bridge = Bridge(listener, target)
        bridge.start()
        yield bridge, listener.getsockname()
        await bridge.close()


async def test_bridge_survives_resets_and_missing_targets(tmp_path: Path) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    async with bridged(tmp_path / "service") as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        assert await reader.read() == b""  # nobody serves yet
        writer.close()
        async with served(tmp_path / "service", reset) as connections:
            for _ in range(5):
                reader, writer = await asyncio.open_connection(*address)
                writer.write(b"x" * 500_000)
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
                writer.transport.abort()
        (tmp_path / "service").unlink()
        async with served(tmp_path / "service", hash_of_all) as connections:
            reader, writer = await asyncio.open_connection(*address)
            writer.write_eof()
            assert await reader.read() == hashlib.sha256().hexdigest().encode()
            writer.close()
            assert connections == []


async def test_burst_that_fills_the_servers_queue_is_not_lost(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as slow:
        slow.bind(str(tmp_path / "service"))
        slow.listen(1)
        async with bridged(tmp_path / "service") as (_, address):
            pairs = [await asyncio.open_connection(*address) for _ in range(20)]
            await asyncio.sleep(0.05)  # now most of them wait in vain
            server = await asyncio.start_unix_server(hash_of_all, sock=slow)
            for reader, writer in pairs:
                writer.write_eof()
                assert await asyncio.wait_for(reader.read(), 10) == hashlib.sha256().hexdigest().encode()
                writer.close()
            server.close()


async def test_client_that_vanishes_ends_the_other_side(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        finally:
            ended.set()

    async with served(tmp_path / "service", stream), bridged(tmp_path / "service") as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        await reader.readexactly(1000)
        writer.transport.abort()
        await asyncio.wait_for(ended.wait(), 5)


async def test_closing_a_bridge_ends_its_connections_and_leaks_nothing(tmp_path: Path, until: Any) -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with served(tmp_path / "service", hold) as connections:
        before = len(os.listdir("/proc/self/fd"))
        async with bridged(tmp_path / "service") as (bridge, address):
            pairs = [await asyncio.open_connection(*address) for _ in range(20)]
            await until(lambda: len(connections) == 20)
            await bridge.close()
            for reader, writer in pairs:
                assert await asyncio.wait_for(reader.read(), 5) == b""
                writer.close()
                await writer.wait_closed()
        await until(lambda: len(os.listdir("/proc/self/fd")) == before)


async def test_bridge_and_process_may_end_in_any_order(opener: Any, tmp_path: Path) -> None:
    sandbox = opener()
    process = await sandbox.start(Command(["sleep", "30"], listen={"a": 8787}, limits=Limits(time_s=30)))
    bridge = Bridge(process.listeners["a"], tmp_path / "nobody")
    bridge.start()
    await process.end()
    await asyncio.sleep(0.01)
    await bridge.close()
    await bridge.close()
    await sandbox.close()


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(data.upper())


async def test_a_server_that_takes_connections_gets_them_without_anybody_between(tmp_path: Path) -> None:
    passed = PassedConnections(tmp_path / "service", Echo)
    passed.start()
    try:
        async with bridged(tmp_path / "service") as (bridge, address):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"one")
            assert await reader.readexactly(3) == b"ONE"
            await bridge.close()
            writer.write(b"two")
            assert await reader.readexactly(3) == b"TWO"
            writer.close()
            await writer.wait_closed()
    finally:
        passed.close()
    assert list(tmp_path.iterdir()) == []


async def test_where_nobody_answers_the_door_bytes_are_passed_on(tmp_path: Path) -> None:
    passed = PassedConnections(tmp_path / "service", Echo)
    passed.start()
    (tmp_path / "service.door").rename(tmp_path / "kept")
    passed.close()
    (tmp_path / "kept").rename(tmp_path / "service.door")
    server = await asyncio.get_running_loop().create_unix_server(Echo, str(tmp_path / "service"))
    async with server, bridged(tmp_path / "service") as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"one")
        assert await reader.readexactly(3) == b"ONE"
        writer.close()
        await writer.wait_closed()
