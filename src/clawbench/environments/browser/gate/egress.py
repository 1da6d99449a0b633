"""The browser's only way out: a SOCKS5 proxy in the session process. No session, no network."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

from clawbench.environments.browser.gate.addresses import is_own, is_public
from clawbench.environments.browser.gate.sockets import Admit
from clawbench.environments.browser.protocol import EgressRules

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 15.0
HTTPS = 443
DEFAULT_PORTS = {"http": 80, "ws": 80, "https": HTTPS, "wss": HTTPS}
MOST_REASONS = 1000
NO_AUTH, NO_METHOD = b"\x05\x00", b"\x05\xff"
GRANTED, FAILED, NOT_ALLOWED, UNREACHABLE, BAD_COMMAND, BAD_ADDRESS = 0, 1, 2, 4, 7, 8
HANDSHAKE_LIMIT = 1024
ASKED_FOR = 16
"""Times that the browser may send over a WebSocket's connection before its handshake must have been among it:
a TLS connection is made with less."""
COULD_BE_FINAL = "it is, or could be, the final request"
SITE_PORTS = frozenset((80, 443))
"""Of a route: on any other, its site would have addresses that no task's pattern expects."""

OF_THE_BROWSER = frozenset(("redirector.gvt1.com", "update.googleapis.com"))
"""Chromium's own services, asked for dictionaries and updates whatever the flags say: never let out."""


class RefusedError(Exception):
    """A destination that the rules forbid."""


class Egress:
    """Tunnels to the routes and, where allowed, the public internet; `close` cuts all of them at once."""

    def __init__(self, rules: EgressRules, before_sending: Callable[[], None] = lambda: None) -> None:
        """`before_sending` is called before the browser's bytes are passed on, and may close the egress."""
        self.opened = 0
        self.refused = 0
        self._before_sending = before_sending
        self._internet = rules.internet
        self._routes = {host.lower().rstrip("."): path for host, path in rules.routes.items()}
        self._tls_routes = {host.lower().rstrip("."): path for host, path in rules.tls_routes.items()}
        self._servers: list[asyncio.Server] = []
        self._ends: set[asyncio.Transport] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._reasons: dict[tuple[str, int], str] = {}
        self._closed = False

    async def serve(self, listener: socket.socket, admit: Admit | None = None) -> None:
        """Answer on a listener that the browser's namespace holds; `admit` is asked before dialling."""
        loop = asyncio.get_running_loop()
        self._servers.append(await loop.create_server(lambda: _Client(self, admit), sock=listener))

    def close(self) -> None:
        """Cut everything now: no byte passes after this returns."""
        self._closed = True
        for server in self._servers:
            server.close()
        for task in tuple(self._tasks):
            task.cancel()
        for end in tuple(self._ends):
            end.abort()

    def may_send(self) -> bool:
        """Whether bytes of the browser may leave, by all that is known now."""
        if not self._closed:
            self._before_sending()
        return not self._closed

    def adopt(self, transport: asyncio.Transport) -> bool:
        """Keep track of one end of a tunnel; False where the egress is closed and the end was cut."""
        if self._closed:
            transport.abort()
            return False
        self._ends.add(transport)
        return True

    def forget(self, transport: asyncio.Transport) -> None:
        self._ends.discard(transport)

    def dial(self, client: _Client, host: str, port: int) -> None:
        self._start(self._dial(client, host, port))

    def ask(self, client: _Client, data: bytes) -> None:
        """Let a client's bytes go on once it is admitted; cut it off where it is not."""
        self._start(self._pass_on(client, data))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, client: _Client, data: bytes) -> None:
        if await client.is_admitted():
            client.pass_on(data)
            return
        self.refused += 1
        log.warning("egress cut a WebSocket off: %s", COULD_BE_FINAL)
        client.cut()

    async def _dial(self, client: _Client, host: str, port: int) -> None:
        if host in OF_THE_BROWSER:
            client.answer(NOT_ALLOWED)
            return
        upstream = _Upstream(self, client)
        try:
            await self._connect(host, port, upstream)
        except RefusedError as refusal:
            self.refused += 1
            log.warning("egress refused %s:%d: %s", host, port, refusal)
            self._remember(host, port, str(refusal))
            client.answer(NOT_ALLOWED)
        except (OSError, UnicodeError) as error:
            log.info("egress could not reach %s:%d: %s", host, port, error)
            self._remember(host, port, _in_words(error))
            client.answer(UNREACHABLE)
        else:
            self.opened += 1

    def why(self, url: str) -> str | None:
        """Why there was no way to the host of this URL when it was last tried; the browser is told less."""
        parts = urlsplit(url)
        return self._reasons.get((parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0)))

    def _remember(self, host: str, port: int, reason: str) -> None:
        self._reasons.pop((host, port), None)
        self._reasons[host, port] = reason
        while len(self._reasons) > MOST_REASONS:
            del self._reasons[next(iter(self._reasons))]

    async def _connect(self, host: str, port: int, upstream: _Upstream) -> None:
        loop = asyncio.get_running_loop()
        if not await upstream.client.is_admitted():
            raise RefusedError(COULD_BE_FINAL)
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            name = host.lower().rstrip(".")
            route = (port == HTTPS and self._tls_routes.get(name)) or self._routes.get(name)
            if route is not None:
                if port not in SITE_PORTS:
                    raise RefusedError("the site answers on ports 80 and 443")
                await loop.create_unix_connection(lambda: upstream, str(route))
                return
            if not self._internet:
                raise RefusedError("this run has no internet")
            await _connect_to_first(await _public_addresses(host, port), upstream)


def _in_words(error: Exception) -> str:
    if isinstance(error, socket.gaierror | UnicodeError):
        return "the name was not resolved"
    return "timed out" if isinstance(error, TimeoutError) else str(error)


async def _public_addresses(host: str, port: int) -> list[tuple[str, int]]:
    """Resolve here, check, and hand on the addresses themselves, so that no later answer can differ."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(entry[4][0])) for entry in found]
    allowed = [address for address in addresses if is_public(address) and not is_own(address)]
    if not allowed:
        raise RefusedError(f"not a public address ({', '.join(map(str, addresses))})")
    return [(str(address), port) for address in dict.fromkeys(allowed)]


async def _connect_to_first(addresses: list[tuple[str, int]], upstream: _Upstream) -> None:
    loop = asyncio.get_running_loop()
    for index, (host, port) in enumerate(addresses):
        last = index == len(addresses) - 1
        try:
            async with asyncio.timeout(None if last else CONNECT_TIMEOUT_S / 3):
                await loop.create_connection(lambda: upstream, host, port)
            return
        except OSError:
            if last:
                raise


class _End(asyncio.Protocol):
    """One end of a tunnel: what it reads the other end writes."""

    def __init__(self, egress: Egress) -> None:
        self.egress = egress
        self.transport: asyncio.Transport | None = None
        self.other: _End | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)
        if self.egress.adopt(transport):
            self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.other and self.other.transport:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        if self.other and self.other.transport and self.other.transport.can_write_eof():
            with suppress(OSError):
                self.other.transport.write_eof()
            return True
        return False

    def connection_lost(self, _error: Exception | None) -> None:
        if self.transport:
            self.egress.forget(self.transport)
        self.transport = None
        if self.other and self.other.transport:
            self.other.transport.close()

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()


class _Upstream(_End):
    """The site's end; joined as soon as it is there, since a server may speak first."""

    def __init__(self, egress: Egress, client: _Client) -> None:
        super().__init__(egress)
        self.client = client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self.transport is not None:
            self.client.join(self)


class _Client(_End):
    """The browser's end: speaks SOCKS5 first, then carries bytes."""

    def __init__(self, egress: Egress, admit: Admit | None) -> None:
        super().__init__(egress)
        self._admit = admit
        self._destination = ("", 0)
        self._asked = 0
        self._handshake = bytearray()
        self._step: Callable[[], bool] | None = self._greeting

    def data_received(self, data: bytes) -> None:
        if not self.egress.may_send():
            return
        if self.other is not None:
            self._carry(data)
            return
        self._handshake += data
        while self._step is not None and self._step():
            pass
        if self._step is not None and len(self._handshake) > HANDSHAKE_LIMIT:
            self._drop()

    async def is_admitted(self) -> bool:
        return self._admit is None or await self._admit(*self._destination)

    def _carry(self, data: bytes) -> None:
        """The browser may use a connection for another WebSocket than the one for which it was made."""
        if self._admit is None or self._asked >= ASKED_FOR or self.transport is None:
            super().data_received(data)
            return
        self._asked += 1
        self.transport.pause_reading()
        self.egress.ask(self, data)

    def pass_on(self, data: bytes) -> None:
        """Bytes that have been asked for."""
        if self.egress.may_send():
            super().data_received(data)
        if self.transport is not None:
            self.transport.resume_reading()

    def cut(self) -> None:
        for end in (self, self.other):
            if end is not None and end.transport is not None:
                end.transport.abort()

    def _drop(self) -> None:
        if self.transport:
            self.transport.close()
        self._step = None

    def _take(self, count: int) -> bytes:
        taken = bytes(self._handshake[:count])
        del self._handshake[:count]
        return taken

    def _greeting(self) -> bool:
        if len(self._handshake) < 2 or len(self._handshake) < 2 + self._handshake[1]:
            return False
        version, _count, *methods = self._take(2 + self._handshake[1])
        if version != 5 or 0 not in methods or self.transport is None:
            if self.transport:
                self.transport.write(NO_METHOD)
            self._drop()
            return False
        self.transport.write(NO_AUTH)
        self._step = self._request
        return True

    def _request(self) -> bool:
        if len(self._handshake) < 5:
            return False
        kind = self._handshake[3]
        length = {1: 4, 3: 1 + self._handshake[4], 4: 16}.get(kind)
        if length is None:
            self.answer(BAD_ADDRESS)
            return False
        if len(self._handshake) < 4 + length + 2:
            return False
        version, command, _, _ = self._take(4)
        address, port = self._take(length), int.from_bytes(self._take(2))
        self._step = None
        if version != 5 or command != 1:
            self.answer(BAD_COMMAND)
            return False
        host = address[1:].decode("latin-1") if kind == 3 else str(ipaddress.ip_address(address))
        self._destination = (host, port)
        self.egress.dial(self, host, port)
        return False

    def answer(self, code: int) -> None:
        """Tell the browser how its request ended; all but GRANTED end the connection."""
        if self.transport is None:
            return
        self.transport.write(bytes((5, code, 0, 1, 0, 0, 0, 0, 0, 0)))
        if code != GRANTED:
            self._drop()

    def join(self, upstream: _End) -> None:
        """Carry bytes between this end and `upstream` from now on."""
        if self.transport is None:
            if upstream.transport:
                upstream.transport.close()
            return
        self.answer(GRANTED)
        self.other, upstream.other = upstream, self
        if self._handshake:
            self._carry(self._take(len(self._handshake)))
