"""Connections accepted for a sandbox, handed to the process that serves them: nobody stands in between."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_NOTE = b"\0"
"""A descriptor travels with at least one byte."""


def door_of(target: Path) -> Path:
    """Where the server of the unix socket `target` takes connections that others accepted."""
    return target.with_name(f"{target.name}.door")


def pass_on(connection: socket.socket, target: Path) -> bool:
    """Give a connection away; False where the server takes none, or has too many waiting."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as courier:
        courier.setblocking(False)
        try:
            courier.connect(str(door_of(target)))
            socket.send_fds(courier, [_NOTE], [connection.fileno()])
        except OSError:
            return False
    return True


class PassedConnections:
    """Takes connections that were accepted elsewhere, as if they had come in here."""

    def __init__(self, target: Path, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._path, self._protocol = door_of(target), protocol
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._door.setblocking(False)
        self._taking: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Connections can be handed over from the return on."""
        self._door.bind(str(self._path))
        self._path.chmod(0o600)
        asyncio.get_running_loop().add_reader(self._door, self._on_readable)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._door)
        self._door.close()
        self._path.unlink(missing_ok=True)

    def _on_readable(self) -> None:
        with suppress(BlockingIOError):
            _, descriptors, _, _ = socket.recv_fds(self._door, len(_NOTE), 1)
            for descriptor in descriptors:
                task = asyncio.ensure_future(self._take(socket.socket(fileno=descriptor)))
                self._taking.add(task)
                task.add_done_callback(self._taking.discard)

    async def _take(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(self._protocol, connection)
        except OSError:  # it ended on the way
            connection.close()
