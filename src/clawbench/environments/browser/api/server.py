"""Serving the API on loopback, in the caller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette

from clawbench.environments.browser import ports
from clawbench.environments.browser.api.app import PAIR
from clawbench.environments.browser.vnc.server import LOOPBACK, address, listen

PORT = ports.RECORDER
GOODBYE_S = 1
"""How long answers under way may still take when the API is closed."""


@dataclass(frozen=True)
class ServedApi:
    """Where the API is, and the token that opens it: for the terminal, and nowhere else."""

    url: str
    token: str = field(repr=False)

    @property
    def pairing_url(self) -> str:
        """What is behind `#` stays in the browser: the extension reads it there."""
        return f"{self.url}{PAIR}#{self.token}"

    @property
    def for_tools(self) -> str:
        """How an outside tool reaches it, in words."""
        return f"Recorder API: {self.url}, with `Authorization: Bearer {self.token}`"


@asynccontextmanager
async def serve_api(
    build: Callable[[str], Starlette], token: str, port: int = PORT
) -> AsyncIterator[ServedApi]:
    """Serve what `build(token)` makes until the block ends; a taken port moves to a free one."""
    listener = listen(LOOPBACK, port)
    server = _Server(
        uvicorn.Config(
            build(token),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GOODBYE_S,
        )
    )
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield ServedApi(address(listener), token)
    finally:
        server.should_exit = True
        await serving
        for connection in tuple(server.server_state.connections):
            # Whoever is still on the line would wait for an answer as long as this process lives.
            connection.transport.abort()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to the run
