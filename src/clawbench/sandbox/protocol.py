"""What a sandbox is: a place where a program runs with nothing in reach but what it was given."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from clawbench.results import Isolation


@dataclass(frozen=True)
class Mount:
    """A file or directory of the host that the sandbox can see."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Root:
    """A root file system of its own instead of the host's."""

    tree: Path
    interpreter: Path
    """A Python that brings all libraries it needs: it starts the launcher in there."""


@dataclass(frozen=True)
class Limits:
    """What a process tree may take before it is ended; None means no limit."""

    memory_mb: int | None = 4096
    processes: int | None = 512
    """Threads count as well."""
    file_mb: int | None = 2048
    """Largest single file it may write."""
    time_s: float | None = None


@dataclass(frozen=True)
class Command:
    """One program to run in a sandbox."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment but for HOME, PATH, TMPDIR, LANG, which the sandbox sets unless given here."""
    cwd: str | None = None
    """Path as seen inside; HOME where None."""
    stdout: Path | None = None
    stderr: Path | None = None
    """Host files that receive the output; None discards it."""
    listen: Mapping[str, int] = field(default_factory=dict)
    """Services to bring in: name -> TCP port on the sandbox's own loopback. The trusted side
    gets the listening sockets (`Process.listeners`) and answers on them; nothing else is reachable."""
    keep_fds: Sequence[int] = ()
    """Descriptors handed on to the program under the same numbers 3, 4, … in this order."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    exit_code: int
    """Negative: the number of the signal that ended it."""
    limit: str | None = None
    """`memory`, `processes`, `time`, `file`: the limit that ended it, where one did."""


class Process(Protocol):
    """A running program and everything it started."""

    pid: int
    """The process on the host whose end is the end of the whole tree."""
    listeners: Mapping[str, socket.socket]
    """A listening socket per service of `Command.listen`, ready before the program starts."""

    async def wait(self) -> Ended: ...

    async def end(self) -> Ended:
        """End the whole tree now, also children that left its session; returns when none is left."""
        ...


class Sandbox(Protocol):
    """A configured sandbox; every `start` is a fresh set of namespaces over the same mounts."""

    name: str
    isolation: Isolation
    home: Path
    """Host directory that is the private HOME; a harness may write its configuration here beforehand."""
    python: str
    """A bare Python, as seen inside."""

    def inside(self, path: str) -> str:
        """Where a mount target is found inside (`none` has no mount namespace and maps it to the host)."""
        ...

    def free_port(self, preferred: int) -> int:
        """A port for `Command.listen`: `preferred`, or a free one where the host's loopback is shared."""
        ...

    def mount(self, mount: Mount) -> None:
        """Add a mount for all later starts."""
        ...

    async def start(self, command: Command) -> Process: ...

    async def close(self) -> None:
        """End what still runs and remove the private HOME."""
        ...
