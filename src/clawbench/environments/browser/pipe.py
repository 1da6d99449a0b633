"""The browser's debugging pipe: NUL-terminated messages on two descriptors, no port."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from clawbench.sandbox import Command, Process, Sandbox

READ_SIZE = 1 << 20
SET_PIPE_SIZE = fcntl.F_SETPIPE_SZ


class PipeTransport:
    """Carries CDP messages over two descriptors, which it owns."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._read_fd, self._write_fd = read_fd, write_fd
        self._incoming: list[bytes] = []
        self._outgoing: deque[memoryview] = deque()
        self._closed = False
        for fd in (read_fd, write_fd):
            os.set_blocking(fd, False)
            with suppress(OSError):
                fcntl.fcntl(fd, SET_PIPE_SIZE, READ_SIZE)

    def start(self, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._loop.add_reader(self._read_fd, self._on_readable)

    def catch_up(self) -> None:
        """Take in all that the browser has said up to now, its end included."""
        for _ in ("what is in the pipe", "and whether that was the end of it"):
            if not self._closed:
                self._on_readable()

    def write(self, message: bytes) -> None:
        idle = not self._outgoing
        self._outgoing.append(memoryview(message + b"\0"))
        if idle:
            self._on_writable()
            if self._outgoing:
                self._loop.add_writer(self._write_fd, self._on_writable)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._read_fd)
        self._loop.remove_writer(self._write_fd)
        os.close(self._read_fd)
        os.close(self._write_fd)
        self._outgoing.clear()

    def _on_readable(self) -> None:
        try:
            data = os.read(self._read_fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._on_end()
            return
        *finished, rest = data.split(b"\0")
        for part in finished:
            message = b"".join((*self._incoming, part))
            self._incoming.clear()
            if message:
                self._on_message(message)
            if self._closed:
                return
        if rest:
            self._incoming.append(rest)

    def _on_writable(self) -> None:
        try:
            while self._outgoing:
                written = os.write(self._write_fd, self._outgoing[0])
                rest = self._outgoing.popleft()[written:]
                if rest:
                    self._outgoing.appendleft(rest)
        except BlockingIOError:
            return
        except OSError:
            self._loop.call_soon(self._on_end)
        self._loop.remove_writer(self._write_fd)


async def start_piped(sandbox: Sandbox, command: Command) -> tuple[Process, PipeTransport]:
    """Start a browser (with `--remote-debugging-pipe`); the other ends of its pipe are ours alone."""
    to_browser, our_write = os.pipe()
    our_read, from_browser = os.pipe()
    try:
        process = await sandbox.start(replace(command, keep_fds=[to_browser, from_browser]))
    except BaseException:
        os.close(our_read)
        os.close(our_write)
        raise
    finally:
        os.close(to_browser)
        os.close(from_browser)
    return process, PipeTransport(our_read, our_write)
