"""The trusted side's end of the socket to `inside.py`."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from clawbench.errors import SandboxError
from clawbench.sandbox import inside

_CREDENTIALS = struct.Struct("iII")


@dataclass(frozen=True)
class Job:
    """What the launcher is to do before it becomes the program."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    listen: Sequence[int]
    file_bytes: int | None


class LauncherGoneError(Exception):
    """The launcher ended before it said a word: the sandbox around it could not be built."""


class Handover:
    """A socket pair of which the sandboxed side inherits `theirs`."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._ours.setblocking(False)

    async def hello(self) -> int:
        """Wait for the launcher; its process id as the host sees it, told by the kernel."""
        self.theirs.close()
        data, ancillary = await self._receive(len(inside.HELLO), socket.CMSG_SPACE(_CREDENTIALS.size))
        if data != inside.HELLO:
            raise LauncherGoneError
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                return int(_CREDENTIALS.unpack(value)[0])
        raise LauncherGoneError

    async def send(self, job: Job, descriptors: Sequence[int]) -> None:
        body = json.dumps(asdict(job)).encode()
        socket.send_fds(self._ours, [struct.pack("!I", len(body))], list(descriptors))
        await asyncio.get_running_loop().sock_sendall(self._ours, body)

    async def listeners(self, services: Sequence[str]) -> dict[str, socket.socket]:
        """The listening sockets, once the program has taken over."""
        size = socket.CMSG_SPACE(inside.MOST_DESCRIPTORS * 4) + socket.CMSG_SPACE(_CREDENTIALS.size)
        data, ancillary = await self._receive(1, size)
        sockets = [socket.socket(fileno=fd) for fd in _descriptors(ancillary)]
        try:
            await self._await_takeover(data)
        except BaseException:
            for opened in sockets:
                opened.close()
            raise
        return dict(zip(services, sockets, strict=True))

    async def _await_takeover(self, data: bytes) -> None:
        message = b"" if data == inside.LISTENERS else data
        while part := await asyncio.get_running_loop().sock_recv(self._ours, 4096):
            message += part
        if message.startswith(inside.FAILED):
            raise SandboxError(
                f"The sandbox cannot start its program: {message[1:].decode(errors='replace')}. "
                "Program and directory must be visible inside (mount them), ports free and above 1023."
            )
        if data != inside.LISTENERS:
            raise LauncherGoneError

    async def _receive(self, size: int, ancillary_size: int) -> tuple[bytes, list[tuple[int, int, bytes]]]:
        while True:
            try:
                data, ancillary, _, _ = self._ours.recvmsg(size, ancillary_size, socket.MSG_CMSG_CLOEXEC)
                return data, ancillary
            except BlockingIOError:
                await readable(self._ours.fileno())
            except ConnectionResetError:
                return b"", []

    def close(self) -> None:
        self._ours.close()
        self.theirs.close()


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    found: list[int] = []
    for level, kind, value in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found += struct.unpack(f"{len(value) // 4}i", value[: len(value) // 4 * 4])
    return found


async def readable(descriptor: int) -> None:
    """Wait until a descriptor (socket, pidfd, pipe) can be read; it must not be watched elsewhere."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, wake)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
