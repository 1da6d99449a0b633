"""Serving a bundled site on a unix socket, within the caller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from starlette.applications import Starlette

from clawbench.errors import InputError
from clawbench.sites import doorbell, teahouse
from clawbench.sites.certificate import make_certificate

GRACE_S = 1
"""How long an answer under way may still take when the site is closed."""


@dataclass(frozen=True)
class Site:
    """A site that is being served, with a state of its own."""

    name: str
    hosts: tuple[str, ...]
    """Host names it answers for."""
    start_url: str
    orders: list[dict[str, Any]]
    """Orders (or rings) that did arrive; an intercepted one never does."""
    tls_socket: Path | None = None
    """Where it speaks TLS; None on a machine without `openssl`."""
    key_hash: str | None = None
    """Which key the browser has to trust for that."""


Build = Callable[[list[dict[str, Any]]], Starlette]

_SITES: dict[str, tuple[tuple[str, ...], Build]] = {
    "doorbell": (doorbell.HOSTS, doorbell.build),
    "teahouse": (teahouse.HOSTS, teahouse.build),
}


def site_names() -> list[str]:
    return sorted(_SITES)


@asynccontextmanager
async def serve_site(name: str, socket_path: Path) -> AsyncIterator[Site]:
    """Serve the site at `socket_path`, and with TLS beside it, until the block ends.

    It accepts connections from the start.
    """
    if name not in _SITES:
        raise InputError(
            f"no bundled site is called {name!r}", remedy=f"Known sites: {', '.join(site_names())}"
        )
    hosts, build = _SITES[name]
    orders: list[dict[str, Any]] = []
    app = build(orders)
    with TemporaryDirectory(dir=socket_path.parent) as directory:
        certificate = await asyncio.to_thread(make_certificate, hosts, Path(directory))
        site = Site(name, hosts, f"http://{hosts[0]}/", orders)
        doors = [(socket_path, _config(app))]
        if certificate is not None:
            tls_socket = socket_path.with_name(f"{socket_path.name}.tls")
            site = replace(site, tls_socket=tls_socket, key_hash=certificate.key_hash)
            doors.append((tls_socket, _config(app, certificate.chain, certificate.key)))
        async with _served(doors):
            yield site


@asynccontextmanager
async def _served(doors: Sequence[tuple[Path, uvicorn.Config]]) -> AsyncIterator[None]:
    with ExitStack() as stack:
        servers = [(_Server(config), stack.enter_context(_listening(path))) for path, config in doors]
        tasks = [asyncio.create_task(server.serve(sockets=[listener])) for server, listener in servers]
        try:
            yield
        finally:
            for server, _ in servers:
                server.should_exit = True
            await asyncio.gather(*tasks)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to the program that serves the site


def _config(app: Starlette, chain: Path | None = None, key: Path | None = None) -> uvicorn.Config:
    return uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", server_header=False,
        timeout_graceful_shutdown=GRACE_S, ssl_certfile=chain, ssl_keyfile=key,
    )  # fmt: skip


@contextlib.contextmanager
def _listening(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen(128)
        listener.setblocking(False)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)
