"""The screen the browser paints on: Xvfb, whose frame buffer is a file that others may read."""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from clawbench.errors import EnvironmentFailedError
from clawbench.results import Isolation
from clawbench.sandbox import Command, Mount, Process, Sandbox

SOCKETS = "/tmp/.X11-unix"
FRAME_BUFFER = "/run/framebuffer"
START_TIMEOUT_S = 15.0


@dataclass(frozen=True)
class Display:
    """A running X server."""

    name: str
    """What DISPLAY has to be."""
    sockets: Path
    """Host directory with its socket; mounted where X clients look for it."""
    frame_buffer: Path
    """Host directory with the memory-mapped picture (XWD)."""
    process: Process
    shared_socket: Path | None = None
    """Its socket among those of the host, where it has no file system of its own."""

    async def close(self) -> None:
        await self.process.end()
        if self.shared_socket is not None and is_stale(self.shared_socket):
            self.shared_socket.unlink(missing_ok=True)


async def start_display(sandbox: Sandbox, scratch: Path, *, width: int, height: int) -> Display:
    """Start Xvfb and return once it answers."""
    sockets, frame_buffer = scratch / "x11", scratch / "framebuffer"
    for directory in (sockets, frame_buffer):
        directory.mkdir(parents=True, exist_ok=True)
    sandbox.mount(Mount(sockets, SOCKETS, writable=True))
    sandbox.mount(Mount(frame_buffer, FRAME_BUFFER, writable=True))
    argv = [
        *("Xvfb", "-displayfd", "3", "-screen", "0", f"{width}x{height}x24", "-dpi", "96"),
        *("-fbdir", sandbox.inside(FRAME_BUFFER), "-nolisten", "tcp", "-noreset"),
    ]
    log = scratch / "display.log"
    ready, told = os.pipe()
    try:
        process = await sandbox.start(Command(argv, stderr=log, stdout=log, keep_fds=[told]))
    except BaseException:
        os.close(ready)
        raise
    finally:
        os.close(told)
    try:
        number = await asyncio.wait_for(_first_line(ready), START_TIMEOUT_S)
    except (TimeoutError, EOFError):
        await process.end()
        raise EnvironmentFailedError(f"The display (Xvfb) did not start: {tail(log)}") from None
    shared = Path(SOCKETS, f"X{number}") if sandbox.isolation is Isolation.NONE else None
    return Display(f":{number}", sockets, frame_buffer, process, shared)


async def _first_line(fd: int) -> str:
    """Read one line of a pipe, which is closed afterwards; EOFError where its writer ended first."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with os.fdopen(fd, "rb") as pipe:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            line = await reader.readline()
        finally:
            transport.close()
    if not line.endswith(b"\n"):
        raise EOFError
    return line.decode().strip()


def is_stale(path: Path) -> bool:
    """Whether nobody answers on a unix socket any more."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


def tail(log: Path, lines: int = 5) -> str:
    """The last lines of a log, for an error message."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        text = ""
    return " / ".join(text.splitlines()[-lines:]) or "it said nothing"
