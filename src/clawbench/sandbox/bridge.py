"""Answers on a listening socket inside a sandbox with what serves a unix socket on the host.

A server that takes connections (`PassedConnections`) gets them; to any other every byte is passed on.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from pathlib import Path

from clawbench.sandbox.passing import pass_on

_CHUNK = 64 * 1024
_CONNECT_S = 30.0
_OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Bridge:
    """Works on its own duplicate of `listener`, so that either side may be closed first."""

    def __init__(self, listener: socket.socket, target: Path) -> None:
        self._listener = listener.dup()
        self._listener.setblocking(False)
        self._target = target
        self._accepting: asyncio.Task[None] | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to accept; needs a running event loop."""
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    async def close(self) -> None:
        """Stop accepting and end all connections."""
        tasks = [*self._connections, *([self._accepting] if self._accepting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._listener.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(self._listener)
            except OSError as error:
                if error.errno in _OUT_OF_DESCRIPTORS:
                    await asyncio.sleep(0.1)
                continue
            if pass_on(client, self._target):
                client.close()
                continue
            task = loop.create_task(self._serve(client))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

    async def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.setblocking(False)
        client.setblocking(False)
        with client, server:
            try:
                if client.family != socket.AF_UNIX:
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                await _connect(server, self._target)
                async with asyncio.TaskGroup() as both:
                    both.create_task(_pump(client, server))
                    both.create_task(_pump(server, client))
            except* OSError:  # a peer went away: closing both tells the other
                pass


async def _connect(server: socket.socket, target: Path) -> None:
    """The event loop's own connect takes a full queue of a unix socket for success."""
    async with asyncio.timeout(_CONNECT_S):
        while True:
            try:
                return server.connect(str(target))
            except BlockingIOError:
                await asyncio.sleep(0.01)


async def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass bytes on until the source says it is done, and say so to the sink."""
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(source, _CHUNK):
        await loop.sock_sendall(sink, data)
    sink.shutdown(socket.SHUT_WR)
