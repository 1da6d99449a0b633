"""A control group of its own for one process tree, in version 1 or 2 of the kernel's interface."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from clawbench.sandbox.leftovers import cgroup_processes, remove_cgroup
from clawbench.sandbox.protocol import Limits

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Parents:
    """Directories below which groups with both controllers can be made; one and the same in version 2."""

    memory: Path
    pids: Path
    version: int


def find_parents(proc: Path = Path("/proc/self")) -> Parents | None:
    """Where this process may make control groups, judged by mounts and by its own group."""
    mounts = _mounted(proc / "mountinfo")
    groups = _own_groups(proc / "cgroup")
    if {"memory", "pids"} <= mounts.keys():
        return Parents(_below(mounts, groups, "memory"), _below(mounts, groups, "pids"), 1)
    if "" not in mounts:
        return None
    own = _below(mounts, groups, "")
    for directory in (own, *own.parents):
        if not directory.is_relative_to(mounts[""]):
            break
        if {"memory", "pids"} <= set(_text(directory / "cgroup.subtree_control").split()):
            return Parents(directory, directory, 2)
    return None


def _mounted(mountinfo: Path) -> dict[str, Path]:
    """Controller -> mount point; version 2 has the empty name."""
    found: dict[str, Path] = {}
    for line in mountinfo.read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind == "cgroup2":
            found.setdefault("", Path(left.split()[4]))
        elif kind == "cgroup":
            for option in options.split(","):
                found.setdefault(option, Path(left.split()[4]))
    return found


def _own_groups(cgroup: Path) -> dict[str, str]:
    rows = (line.split(":", 2) for line in cgroup.read_text().splitlines())
    return {name: path for _, names, path in rows for name in names.split(",")}


def _below(mounts: dict[str, Path], groups: dict[str, str], controller: str) -> Path:
    own = mounts[controller] / groups.get(controller, "/").lstrip("/")
    return own if own.is_dir() else mounts[controller]


@dataclass(frozen=True)
class LimitEvent:
    """A descriptor that becomes readable when a limit may have been hit."""

    descriptor: int
    counters: int
    """The events file itself."""

    def rearm(self) -> None:
        os.pread(self.counters, 4096, 0)

    def close(self) -> None:
        os.close(self.descriptor)
        os.close(self.counters)


@dataclass
class Cgroup:
    """A group with limits; `open` gives None where the machine does not let us have one."""

    memory: Path
    pids: Path
    version: int
    events: list[LimitEvent] = field(default_factory=list)
    """Empty in version 1, which does not tell when a fork failed: ask `exceeded` now and then."""

    @classmethod
    def open(cls, limits: Limits, announce: Callable[[Path], None] = lambda _: None) -> Self | None:
        """`announce` hears of each directory before it is made."""
        parents = find_parents()
        if parents is None:
            return None
        name = f"clawbench-{os.getpid()}-{next(_numbers)}"
        group = cls(parents.memory / name, parents.pids / name, parents.version)
        try:
            for path in group.paths:
                announce(path)
                path.mkdir()
            group._set(limits)
            group._watch()
        except OSError:
            group.remove()
            return None
        except BaseException:
            group.remove()
            raise
        return group

    @property
    def paths(self) -> list[Path]:
        return [self.memory] if self.memory == self.pids else [self.memory, self.pids]

    def add(self, pid: int) -> None:
        for path in self.paths:
            (path / "cgroup.procs").write_text(str(pid))

    def processes(self) -> list[int]:
        return sorted({pid for path in self.paths for pid in cgroup_processes(str(path))})

    def exceeded(self) -> str | None:
        """The limit that was hit so far."""
        memory = self.memory / ("memory.oom_control" if self.version == 1 else "memory.events")
        if _count(_text(memory), "oom_kill"):
            return "memory"
        return "processes" if _count(_text(self.pids / "pids.events"), "max") else None

    def remove(self) -> None:
        for event in self.events:
            event.close()
        self.events.clear()
        for path in self.paths:
            remove_cgroup(str(path), time.monotonic() + 1)

    def _set(self, limits: Limits) -> None:
        if limits.processes is not None:
            (self.pids / "pids.max").write_text(str(limits.processes))
        if limits.memory_mb is None:
            return
        size = str(limits.memory_mb * 1024 * 1024)
        if self.version == 2:
            (self.memory / "memory.max").write_text(size)
            _write_where_present(self.memory / "memory.swap.max", "0")
            _write_where_present(self.memory / "memory.oom.group", "1")
        else:
            (self.memory / "memory.limit_in_bytes").write_text(size)
            _write_where_present(self.memory / "memory.memsw.limit_in_bytes", size)

    def _watch(self) -> None:
        if self.version == 2:
            self._watch_file(self.pids / "pids.events")
            self._watch_file(self.memory / "memory.events")

    def _watch_file(self, path: Path) -> None:
        """The kernel marks a changed events file as urgent; an epoll of its own makes that readable."""
        with contextlib.ExitStack() as undo:
            counters = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            undo.callback(os.close, counters)
            os.read(counters, 4096)
            with select.epoll() as poll:
                poll.register(counters, select.EPOLLPRI)
                self.events.append(LimitEvent(os.dup(poll.fileno()), counters))
            undo.pop_all()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _count(text: str, key: str) -> int:
    words = text.split()
    return int(words[words.index(key) + 1]) if key in words else 0


def _write_where_present(path: Path, value: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.write_text(value)
