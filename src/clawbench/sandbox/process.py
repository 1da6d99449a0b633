"""A started process tree: waiting for it, ending it, and leaving nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial

from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.handover import readable
from clawbench.sandbox.limits import LimitWatch
from clawbench.sandbox.protocol import Ended


class TreeProcess(ABC):
    """What all providers share; a provider says how its tree is ended and when it is really gone."""

    def __init__(self, direct: subprocess.Popen[bytes], pid: int, watch: LimitWatch) -> None:
        self.pid = pid
        self.listeners: Mapping[str, socket.socket] = {}
        self._direct = direct
        self._direct_handle = os.pidfd_open(direct.pid)
        self._watch = watch
        self._limit: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.released = False
        """The tree is gone and so is all that was kept for it."""
        self._on_end: list[Callable[[], None]] = []
        self._ending: asyncio.Task[Ended] | None = None

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call back after the tree is gone."""
        if self.released:
            callback()
        else:
            self._on_end.append(callback)

    def guard(self, guardian: Guardian) -> None:
        """Let the guardian end the tree, should we be killed; of the control group it knows already."""
        groups = self._watch.cgroup.paths if self._watch.cgroup else []
        for pid in {self._direct.pid, self.pid}:
            guardian.watch_process(pid)
            self.on_end(partial(guardian.forget_process, pid))
        for path in groups:
            self.on_end(partial(guardian.forget_cgroup, path))

    def run(self, time_s: float | None) -> None:
        """Watch the limits and wait for the end in the background."""
        loop = asyncio.get_running_loop()
        self._watch.start(self._exceed)
        if time_s is not None:
            self._timer = loop.call_later(time_s, self._exceed, "time")
        self._ending = loop.create_task(self._await_end())

    async def wait(self) -> Ended:
        assert self._ending is not None
        return await asyncio.shield(self._ending)

    async def end(self) -> Ended:
        self.kill()
        return await self.wait()

    def output_full(self) -> None:
        self._exceed("file")

    @abstractmethod
    def kill(self) -> None:
        """Start the end of the whole tree."""

    @abstractmethod
    async def _await_tree(self) -> int:
        """Wait until no process of the tree is left; the program's exit code."""

    def _exceed(self, limit: str) -> None:
        self._limit = self._limit or limit
        self.kill()

    async def _await_end(self) -> Ended:
        try:
            exit_code = await self._await_tree()
        except asyncio.CancelledError:  # the event loop is closing: no time to wait for events
            self.kill()
            self._direct.wait()
            raise
        finally:
            limit = self._release()
        if limit is None and exit_code == -signal.SIGXFSZ:
            limit = "file"
        return Ended(exit_code, limit)

    async def _await_direct(self) -> int:
        await readable(self._direct_handle)
        return self._direct.wait()

    def _release(self) -> str | None:
        if self._timer is not None:
            self._timer.cancel()
        hit = self._watch.stop()
        for listener in self.listeners.values():
            listener.close()
        os.close(self._direct_handle)
        self.released = True
        for callback in self._on_end:
            callback()
        return self._limit or hit


def as_exit_code(status: int) -> int:
    """bwrap, like a shell, says 128+n where signal n ended the program."""
    return 128 - status if 128 < status <= 128 + signal.NSIG else status
