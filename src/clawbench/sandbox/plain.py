"""No sandbox at all: plain processes with the limits and the clean end of one, and no isolation."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from clawbench.errors import SandboxError
from clawbench.results import Isolation
from clawbench.sandbox import proctree, supervise
from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.handover import Handover, LauncherGoneError
from clawbench.sandbox.interpreter import base_interpreter
from clawbench.sandbox.leftovers import remove_directory
from clawbench.sandbox.limits import watch_limits
from clawbench.sandbox.process import TreeProcess
from clawbench.sandbox.protocol import Command, Limits, Mount, Process
from clawbench.sandbox.starting import (
    BARE,
    START_TIMEOUT_S,
    Complaints,
    killed_on_error,
    launch,
    start_timed_out,
)
from clawbench.sandbox.system_view import HOME

MARKER = "CLAWBENCH_TREE"
_END_S = 2.5


class PlainSandbox:
    """Provider `none`. The program sees the host's files and network as the invoker does."""

    name = "none"
    isolation = Isolation.NONE

    def __init__(
        self,
        *,
        home: Path,
        mounts: Sequence[Mount] = (),
        guardian: Guardian | None = None,
        interpreter: Path | None = None,
        path_first: Sequence[str] = (),
    ) -> None:
        self.home = home
        self._mounts = [Mount(home, HOME, writable=True), *mounts]
        self._guardian = guardian
        self._interpreter = interpreter or base_interpreter()
        self.python = str(self._interpreter)
        self._path_first = tuple(path_first)
        self._running: set[PlainProcess] = set()
        if guardian is not None:
            guardian.watch_directory(home)

    def inside(self, path: str) -> str:
        wanted = PurePosixPath(path)
        for mount in sorted(self._mounts, key=lambda one: len(one.target), reverse=True):
            if wanted.is_relative_to(mount.target):
                return str(mount.source / wanted.relative_to(mount.target))
        return path

    def free_port(self, preferred: int) -> int:
        for port in (preferred, 0):
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
                return int(probe.getsockname()[1])
        raise SandboxError(
            "No free port on the loopback interface. End programs that hold ports and try again."
        )

    def mount(self, mount: Mount) -> None:
        self._mounts.append(mount)

    def environment(self, command: Command, marker: str) -> dict[str, str]:
        temporary = self.home / "tmp"
        temporary.mkdir(exist_ok=True)
        name, _, value = marker.partition("=")
        basic = {"HOME": str(self.home), "PATH": os.environ.get("PATH", os.defpath)}
        basic |= {"TMPDIR": str(temporary), "LANG": "C.UTF-8", **command.env, name: value}
        return {**basic, "PATH": ":".join((*self._path_first, basic["PATH"]))}

    async def start(self, command: Command) -> Process:
        with contextlib.ExitStack() as resources:
            complaints = Complaints(resources)
            try:
                async with asyncio.timeout(START_TIMEOUT_S):
                    process = await self._start(command, complaints.write_end, resources)
            except LauncherGoneError:
                raise SandboxError(
                    f"The launcher did not start: {complaints.read() or 'it gave no reason'}. "
                    f"Check that {self._interpreter} runs."
                ) from None
            except TimeoutError:
                raise start_timed_out(command) from None
        self._running.add(process)
        process.on_end(lambda: self._running.discard(process))
        return process

    async def _start(self, command: Command, errors: int, resources: contextlib.ExitStack) -> PlainProcess:
        marker = f"{MARKER}={secrets.token_hex(16)}"
        handover = resources.enter_context(contextlib.closing(Handover()))
        control, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as undo:
            undo.enter_context(control)
            direct = self._spawn(handover.theirs.fileno(), theirs.fileno(), errors)
            theirs.close()
            with killed_on_error(direct, self._guardian):
                launcher = await handover.hello()
                process = PlainProcess(direct, control, marker, launcher, command.limits, self._guardian)
            undo.pop_all()
        env = self.environment(command, marker)
        await launch(process, handover, command, env, str(self.home), self._guardian)
        return process

    def _spawn(self, launcher: int, control: int, errors: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self._interpreter), *BARE, supervise.__file__, str(launcher), str(control)],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(launcher, control),
            start_new_session=True,
        )

    async def close(self) -> None:
        for process in list(self._running):
            await process.end()
        await asyncio.to_thread(remove_directory, str(self.home))
        if self._guardian is not None:
            self._guardian.forget_directory(self.home)


class PlainProcess(TreeProcess):
    """A supervisor and all below it. What slips out of its sight is known by a mark in its environment."""

    def __init__(
        self,
        direct: subprocess.Popen[bytes],
        control: socket.socket,
        marker: str,
        launcher: int,
        limits: Limits,
        guardian: Guardian | None,
    ) -> None:
        super().__init__(direct, direct.pid, watch_limits(limits, direct.pid, launcher, guardian))
        self._control = control
        self._marker = marker
        self.on_end(control.close)

    def guard(self, guardian: Guardian) -> None:
        super().guard(guardian)
        guardian.watch_marker(self._marker)
        self.on_end(lambda: guardian.forget_marker(self._marker))

    def kill(self) -> None:
        if not self.released:
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_WR)
                asyncio.get_running_loop().call_later(_END_S, self._kill_supervisor)

    def _kill_supervisor(self) -> None:
        """Only where the program stopped or broke its own supervisor."""
        if not self.released:
            self._direct.kill()

    async def _await_tree(self) -> int:
        exit_code = await self._await_direct()
        await asyncio.to_thread(self._sweep)
        status = self._control.recv(supervise.STATUS.size)
        return int(supervise.STATUS.unpack(status)[0]) if status else exit_code

    def _sweep(self) -> None:
        """Whatever the supervisor lost sight of, because the program ended it first."""
        deadline = time.monotonic() + _END_S
        proctree.kill_until_gone(lambda: proctree.marked(self._marker), deadline)
        if self._watch.cgroup is not None:
            group = self._watch.cgroup
            proctree.kill_until_gone(lambda: proctree.entries(group.processes()), deadline)
