"""A live view of a browser session: one address, one browser, bound to loopback unless asked otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from clawbench.environments.browser import ports
from clawbench.environments.browser.vnc.access import Access
from clawbench.environments.browser.vnc.app import ViewApp
from clawbench.environments.browser.vnc.board import Board
from clawbench.environments.browser.vnc.guard import TOKEN
from clawbench.environments.browser.vnc.presence import Presence
from clawbench.environments.browser.vnc.subject import Mode, Subject, ending
from clawbench.environments.browser.vnc.windows import Windows
from clawbench.errors import InputError
from clawbench.results import StopReason, Verdict

LOOPBACK, PORT = ports.LOOPBACK, ports.NOVNC
GRACE_S = 15.0
GOODBYE_S = 1
"""How long answers under way may still take when a view is closed."""


@dataclass(frozen=True)
class ViewSettings:
    """How a run is looked at."""

    mode: Mode
    host: str = LOOPBACK
    port: int = PORT
    grace_s: float = GRACE_S
    """How long a person who left may take to come back (`control`)."""


class LiveView:
    """What a run tells the one who looks at it, and learns about them."""

    def __init__(self, url: str, board: Board, presence: Presence) -> None:
        self.url, self.presence = url, presence
        """The address with its one-time token: for the terminal, and nowhere else."""
        self._board = board
        self._reason: StopReason | None = None

    def begin(self, seconds: float) -> None:
        """The time limit has begun to run."""
        self._board.begin(seconds)

    def count(self, actions: int, requests: int) -> None:
        self._board.post(actions=actions, requests=requests)

    def stop(self, reason: StopReason) -> None:
        """No more can be done; the recording is being finished."""
        if self._reason is None:
            self._reason = reason
            headline, detail = ending(reason, None)
            self._board.post(phase="stopping", headline=headline, detail=detail)

    def settle(self, reason: StopReason, verdict: Verdict | None) -> None:
        """The last word."""
        headline, detail = ending(reason, verdict)
        self._board.post(phase="done", headline=headline, detail=detail)

    def close(self) -> None:
        if self._board.notice.phase != "done":
            self.settle(self._reason or StopReason.ERROR, None)


@asynccontextmanager
async def serve_view(
    settings: ViewSettings, subject: Subject, *, screen: Path, relay: Path, novnc: Path
) -> AsyncIterator[LiveView]:
    """Serve until the block ends; `screen` and `relay` are the session's, `novnc` is where its files are."""
    listener = listen(settings.host, settings.port)
    access, board, presence = Access(), Board(), Presence()
    view = LiveView(f"{address(listener)}/?{TOKEN}={access.token}", board, presence)
    windows = Windows(relay, lambda shown: board.post(windows=tuple(shown)))
    app = ViewApp(subject, board, presence, screen, windows if subject.mode == "control" else None)
    server = _server(app.build(access, novnc))
    serving = asyncio.create_task(server.serve([listener]))
    following = [asyncio.create_task(windows.follow())] if subject.mode == "control" else []
    try:
        yield view
    finally:
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        view.close()
        server.should_exit = True
        await serving


def _server(app: Starlette) -> uvicorn.Server:
    return _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_per_message_deflate=False,
            ws_ping_interval=5,
            ws_ping_timeout=10,
            server_header=False,
            timeout_graceful_shutdown=GOODBYE_S,
        )
    )


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to the run


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; a taken port moves to a free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        try:
            listener = socket.create_server((host, port), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            listener = socket.create_server((host, 0), family=family)
    except OSError as error:
        raise InputError(
            f"{host} cannot be listened on ({error.strerror})",
            field="--listen",
            remedy="Give an address of this machine, such as 127.0.0.1 or 0.0.0.0",
        ) from None
    # Connections inherit it; asyncio only does it where a socket names its protocol. Else: 40 ms an answer.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address(listener: socket.socket) -> str:
    """Where a browser finds it; for all interfaces, by this machine's name."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
