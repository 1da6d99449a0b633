"""Steps of a start that all providers share."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from clawbench.errors import SandboxError
from clawbench.sandbox import proctree
from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.handover import Handover, Job
from clawbench.sandbox.output import OutputPipe
from clawbench.sandbox.process import TreeProcess
from clawbench.sandbox.protocol import Command

START_TIMEOUT_S = 30.0
BARE = ("-I", "-S", "-E")
"""Interpreter flags: no site packages, no user settings, no environment."""


async def launch(
    process: TreeProcess,
    handover: Handover,
    command: Command,
    env: Mapping[str, str],
    home: str,
    guardian: Guardian | None,
) -> None:
    """Turn the waiting launcher into the program; on any failure nothing of it is left."""
    limits = command.limits
    file_bytes = None if limits.file_mb is None else limits.file_mb * 1024 * 1024
    job = Job(command.argv, env, command.cwd or home, list(command.listen.values()), file_bytes)
    process.run(limits.time_s)
    try:
        if guardian is not None:
            process.guard(guardian)
        with contextlib.ExitStack() as opened:
            outputs = _open_outputs(command, file_bytes, process, opened)
            await handover.send(job, [*outputs, *command.keep_fds])
        process.listeners = await handover.listeners(list(command.listen))
    except BaseException:
        await process.end()
        raise


def _open_outputs(
    command: Command, most: int | None, process: TreeProcess, opened: contextlib.ExitStack
) -> list[int]:
    """Descriptors for stdout and stderr; one pipe where both go to one file, so that order is kept."""
    ends: dict[Path | None, int] = {}
    for path in (command.stdout, command.stderr):
        if path in ends:
            continue
        if path is None:
            ends[path] = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            opened.callback(os.close, ends[path])
        else:
            output = OutputPipe(path, most)
            process.on_end(output.close)
            opened.callback(output.start, process.output_full)
            ends[path] = output.write_end
    return [ends[command.stdout], ends[command.stderr]]


@contextlib.contextmanager
def killed_on_error(direct: subprocess.Popen[bytes], guardian: Guardian | None) -> Iterator[None]:
    """For the time until a `TreeProcess` takes care of it."""
    try:
        if guardian is not None:
            guardian.watch_process(direct.pid)
        yield
    except BaseException:
        _kill_family(direct)
        if guardian is not None:
            guardian.forget_process(direct.pid)
        raise


def _kill_family(direct: subprocess.Popen[bytes]) -> None:
    """The first child of a sandbox maker waits for it without end until it is set up: it goes first, and
    a process that stands still makes no other. Where the maker has ended by itself, its child is no longer
    below it, but still in its group."""
    direct.send_signal(signal.SIGSTOP)
    with contextlib.suppress(ChildProcessError):  # it has ended, and was waited for
        os.waitid(os.P_PID, direct.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    for entry in proctree.descendants(direct.pid):
        proctree.kill(entry)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(direct.pid, signal.SIGKILL)
    direct.wait()


class Complaints:
    """What the sandbox maker and the launcher say on stderr before the program starts."""

    def __init__(self, resources: contextlib.ExitStack) -> None:
        self._read_end, self.write_end = resources.enter_context(pipe())
        os.set_blocking(self._read_end, False)

    def read(self) -> str:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._read_end, 65536).decode(errors="replace").strip()
        return ""


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    read_end, write_end = os.pipe()
    try:
        yield read_end, write_end
    finally:
        os.close(read_end)
        os.close(write_end)


def in_memory(text: str, resources: contextlib.ExitStack) -> int:
    """A descriptor of an anonymous file that holds `text`, to be read from its beginning."""
    descriptor = os.memfd_create("clawbench")
    resources.callback(os.close, descriptor)
    os.write(descriptor, text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def start_timed_out(command: Command) -> SandboxError:
    return SandboxError(
        f"{command.argv[0]!r} did not start in its sandbox within {START_TIMEOUT_S:.0f} s. "
        "The machine is overloaded or a mounted path hangs: try again with fewer runs at once."
    )
