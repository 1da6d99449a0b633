"""The session's side of a live view: an x11vnc of its own for whoever looks at the screen.

Nothing runs until somebody looks. Each connection to the socket is handed to a fresh x11vnc, whose sandbox
holds the display's socket, that one connection and no network. Whether it takes input is decided here.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from pathlib import Path

from clawbench.environments.browser.display import SOCKETS, Display
from clawbench.errors import ClawbenchError
from clawbench.sandbox import Command, Limits, Mount, Process, Sandbox

log = logging.getLogger(__name__)

LAST_WORDS_WITHIN_S = 2.0
LIMITS = Limits(memory_mb=512, processes=32, file_mb=16)
WIDE_LAYOUT = "setxkbmap -layout us -variant altgr-intl"
"""The US keyboard with the letters of western Europe behind AltGr. To other letters x11vnc lends a spare key,
and one may get lost at the moment of lending."""
ON_ITS_SOCKET = 'exec "$@" <&3 >&3 3>&-'
"""x11vnc speaks on stdin and stdout (`-inetd`); descriptor 3 is the connection."""


def arguments(display: str, *, control: bool) -> list[str]:
    """How x11vnc is started; without `control` it ignores whatever keys and clicks it is sent."""
    return [
        *("x11vnc", "-inetd", "-display", display, "-rfbport", "0", "-no6", "-noipv6", "-nopw", "-quiet"),
        # Windows of the recorded browser can set X properties: none may command it.
        *("-norc", "-safer", "-noremote", "-novncconnect", "-nocmds", "-nolookup"),
        # Display and x11vnc share no memory; guesses about moved windows leave debris on the picture.
        *("-noshm", "-nowireframe", "-noscrollcopyrect"),
        # Its clipboard works only some time after a start, and for Latin-1: the page types instead.
        "-nosel",
        "-clear_keys" if control else "-viewonly",
    ]


class ScreenShare:
    """Shows the display on a unix socket, to one connection at a time: the newest."""

    def __init__(self, sandbox: Sandbox, display: Display, *, control: bool, output: Path) -> None:
        self._sandbox, self._output = sandbox, output
        sandbox.mount(Mount(display.sockets, SOCKETS))
        script = f"{WIDE_LAYOUT}; {ON_ITS_SOCKET}" if control else ON_ITS_SOCKET
        self._argv = ["sh", "-c", script, "sh", *arguments(display.name, control=control)]
        self._env = {"DISPLAY": display.name}
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._shown: Process | None = None
        self._client: socket.socket | None = None

    async def serve(self, path: Path) -> None:
        """Return once the screen can be looked at."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        path.chmod(0o600)
        self._listener.listen()
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept(self._listener))

    async def close(self) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
            await asyncio.gather(self._accepting, return_exceptions=True)
        if self._listener is not None:
            self._listener.close()
        await self._sandbox.close()
        if self._client is not None:
            self._client.close()

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            client, _ = await asyncio.get_running_loop().sock_accept(listener)
            await self._show(client)

    async def _end_last(self) -> None:
        """Of what its client sent it may read the rest, where keys come up, and then finds the end."""
        if self._client is not None:
            with self._client, suppress(OSError):
                self._client.shutdown(socket.SHUT_RD)
        if self._shown is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._shown.wait(), LAST_WORDS_WITHIN_S)
            await self._shown.end()

    async def _show(self, client: socket.socket) -> None:
        await self._end_last()
        self._client = client
        connection = [client.fileno()]
        command = Command(self._argv, self._env, stderr=self._output, keep_fds=connection, limits=LIMITS)
        try:
            self._shown = await self._sandbox.start(command)
        except ClawbenchError:
            log.exception("the screen could not be shown")
