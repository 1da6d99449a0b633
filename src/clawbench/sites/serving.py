"""Serving a bundled site on a unix socket, within the caller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from clawbench.errors import InputError
from clawbench.sites import doorbell, teahouse

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


Build = Callable[[list[dict[str, Any]]], Starlette]

_SITES: dict[str, tuple[tuple[str, ...], Build]] = {
    "doorbell": (doorbell.HOSTS, doorbell.build),
    "teahouse": (teahouse.HOSTS, teahouse.build),
}


def site_names() -> list[str]:
    return sorted(_SITES)


@asynccontextmanager
async def serve_site(name: str, socket_path: Path) -> AsyncIterator[Site]:
    """Serve the site at `socket_path` until the block ends. It accepts connections from the start."""
    if name not in _SITES:
        raise InputError(
            f"no bundled site is called {name!r}", remedy=f"Known sites: {', '.join(site_names())}"
        )
    hosts, build = _SITES[name]
    site = Site(name, hosts, f"http://{hosts[0]}/", [])
    with _listening(socket_path) as listener:
        server = _Server(_config(build(site.orders)))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield site
        finally:
            server.should_exit = True
            await task


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to the program that serves the site


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", server_header=False,
        timeout_graceful_shutdown=GRACE_S,
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
