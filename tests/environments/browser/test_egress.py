"""The way out: a real SOCKS5 conversation with the proxy, and the addresses it will not dial."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from clawbench.environments.browser.gate.addresses import is_own, is_public
from clawbench.environments.browser.gate.egress import ASKED_FOR, Egress
from clawbench.environments.browser.gate.sockets import Admit
from clawbench.environments.browser.protocol import EgressRules

pytestmark = pytest.mark.anyio

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def proxy(rules: EgressRules, admit: Admit | None = None) -> AsyncIterator[tuple[Egress, int]]:
    listener = socket.create_server(("127.0.0.1", 0))
    egress = Egress(rules)
    await egress.serve(listener, admit)
    try:
        yield egress, listener.getsockname()[1]
    finally:
        egress.close()


@asynccontextmanager
async def echo(path: Path) -> AsyncIterator[None]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello;")
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
        writer.close()

    server = await asyncio.start_unix_server(serve, str(path))
    try:
        yield
    finally:
        server.close()


async def ask(port: int, host: str, to_port: int = 80, command: int = 1) -> tuple[int, Streams]:
    """One SOCKS5 request; returns the proxy's answer and the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\x05\x02\x00\x02")
    assert await reader.readexactly(2) == b"\x05\x00"
    try:
        address = ipaddress.ip_address(host)
        kind = bytes((1 if address.version == 4 else 4,)) + address.packed
    except ValueError:
        kind = bytes((3, len(host))) + host.encode()
    writer.write(bytes((5, command, 0)) + kind + struct.pack(">H", to_port))
    answer = await reader.readexactly(10)
    return answer[1], (reader, writer)


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Return when the other side has hung up as well."""
    with suppress(ConnectionError):
        writer.write_eof()
        await reader.read()
    writer.close()


async def test_a_route_is_tunnelled_both_ways_and_cut_at_once(tmp_path: Path) -> None:
    async with (
        echo(tmp_path / "s"),
        proxy(EgressRules(routes={"Shop.example": tmp_path / "s"})) as (egress, port),
    ):
        code, (reader, writer) = await ask(port, "shop.EXAMPLE.")
        assert code == 0
        assert await reader.readexactly(6) == b"hello;"
        big = bytes(range(256)) * 20_000
        writer.write(big)
        assert await reader.readexactly(len(big)) == big
        writer.write_eof()
        assert await reader.read() == b""
        code, (reader, second) = await ask(port, "shop.example")
        egress.close()
        with suppress(ConnectionError):
            assert await reader.read() in (b"", b"hello;")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        second.close()


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0.0.0.0",
        "::1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
    ],
)
async def test_this_host_and_its_networks_are_refused(host: str) -> None:
    """A server that listens on this host's loopback must not be reached."""
    listener = socket.create_server(("127.0.0.1", 0))
    async with proxy(EgressRules(internet=True)) as (egress, port):
        code, (_, writer) = await ask(port, host, listener.getsockname()[1])
        assert code == 2
        assert egress.refused == 1
        writer.close()
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()


async def test_without_internet_only_routes_are_reached(tmp_path: Path) -> None:
    async with echo(tmp_path / "s"):
        rules = EgressRules(routes={"shop.example": tmp_path / "s"}, internet=False)
        async with proxy(rules) as (egress, port):
            code, (_, writer) = await ask(port, "93.184.215.14")
            assert (code, egress.refused, egress.opened) == (2, 1, 0)
            writer.close()


async def test_why_there_was_no_way_is_remembered(tmp_path: Path) -> None:
    async with proxy(EgressRules(routes={"shop.example": tmp_path / "nobody"})) as (egress, port):
        for host, to_port in (("shop.example", 80), ("no-such-name.invalid", 443), ("127.0.0.1", 8080)):
            _, (_, writer) = await ask(port, host, to_port)
            writer.close()
        assert "No such file" in (egress.why("http://shop.example/order") or "")
        assert egress.why("wss://no-such-name.invalid/socket") == "the name was not resolved"
        assert "not a public address" in (egress.why("http://127.0.0.1:8080/") or "")
        assert egress.why("https://shop.example/") is None


async def test_a_route_has_no_other_ports(tmp_path: Path) -> None:
    async with echo(tmp_path / "s"), proxy(EgressRules(routes={"shop.example": tmp_path / "s"})) as (_, port):
        for to_port, answer in ((443, 0), (8080, 2)):
            code, streams = await ask(port, "shop.example", to_port)
            assert code == answer
            await hang_up(*streams)


async def test_what_is_sent_first_is_asked_for_as_well(tmp_path: Path) -> None:
    """A browser may use a connection for another WebSocket than the one for which it was admitted."""
    admitted = [True, True, True, False]

    async def admit(host: str, port: int) -> bool:
        assert (host, port) == ("shop.example", 80)
        return admitted.pop(0)

    rules = EgressRules(routes={"shop.example": tmp_path / "s"})
    async with echo(tmp_path / "s"), proxy(rules, admit) as (egress, port):
        code, (reader, writer) = await ask(port, "shop.example")
        assert code == 0
        for data in (b"one", b"two"):
            writer.write(data)
            assert (await reader.readexactly(9 if data == b"one" else 3)).endswith(data)
        writer.write(b"three")
        with suppress(ConnectionError):
            assert await reader.read() == b""
        assert (egress.refused, admitted) == (1, [])
        writer.close()


async def test_after_that_nobody_is_asked(tmp_path: Path) -> None:
    asked = 0

    async def admit(_host: str, _port: int) -> bool:
        nonlocal asked
        asked += 1
        return True

    rules = EgressRules(routes={"shop.example": tmp_path / "s"})
    async with echo(tmp_path / "s"), proxy(rules, admit) as (_, port):
        _, (reader, writer) = await ask(port, "shop.example")
        await reader.readexactly(6)
        for number in range(2 * ASKED_FOR):
            writer.write(bytes((number,)))
            assert await reader.readexactly(1) == bytes((number,))
        assert asked == 1 + ASKED_FOR
        await hang_up(reader, writer)


async def test_other_commands_and_broken_greetings_get_nowhere() -> None:
    async with proxy(EgressRules()) as (_, port):
        code, (_, writer) = await ask(port, "shop.example", command=2)
        assert code == 7
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 5000)
        assert (await reader.read(10)) in (b"\x05\xff", b"")
        writer.close()


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "64:ff9b::1.1.1.1", "::ffff:8.8.8.8"])
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.0.1", "172.16.0.1", "192.168.1.1"),
        *("192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1"),
        *("ff02::1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1"),
        *("2002:7f00:1::", "2002:c0a8:101::", "2001:db8::1", "fe80::1%eth0"),
        *("fec0::1", "feff::1", "3fff::1", "192.0.0.9", "192.0.0.170", "192.88.99.1", "168.63.129.16"),
        *("::ffff:168.63.129.16", "64:ff9b::192.88.99.1"),
    ],
)
def test_other_addresses(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


def test_own_addresses_are_known() -> None:
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("192.0.2.77"))
