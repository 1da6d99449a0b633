"""Ending a process tree that takes more than it may: by control group where we get one, else by watching."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from clawbench.sandbox import proctree
from clawbench.sandbox.cgroup import Cgroup, LimitEvent
from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.protocol import Limits

_PAGE = os.sysconf("SC_PAGE_SIZE")
_INTERVAL_S = 0.2

OnExceeded = Callable[[str], None]


class LimitWatch(Protocol):
    """Tells, once, which limit a process tree went over."""

    cgroup: Cgroup | None

    def start(self, on_exceeded: OnExceeded) -> None: ...

    def stop(self) -> str | None:
        """End the watch after the tree's end; the limit that was hit, if any."""
        ...


def watch_limits(
    limits: Limits, root: int, launcher: int, guardian: Guardian | None, scratch: Sequence[str] = ()
) -> LimitWatch:
    """Put the waiting `launcher`, from which the tree will grow, under the limits.

    `root`: the process all others stay below; `scratch`: file systems that count as memory.
    """
    group = _group(limits, guardian) if limits.memory_mb or limits.processes else None
    if group is not None:
        try:
            group.add(launcher)
        except OSError:  # we may make groups here, but not move processes into them
            group.remove()
            _forget(guardian, group.paths)
        else:
            return GroupWatch(group)
    return TreeWatch(limits, root, scratch)


def _group(limits: Limits, guardian: Guardian | None) -> Cgroup | None:
    """Known to the guardian before it is there: we may be killed before there is anything in it."""
    announced: list[Path] = []

    def announce(path: Path) -> None:
        announced.append(path)
        if guardian is not None:
            guardian.watch_cgroup(path)

    group = Cgroup.open(limits, announce)
    if group is None:
        _forget(guardian, announced)
    return group


def _forget(guardian: Guardian | None, paths: Iterable[Path]) -> None:
    if guardian is not None:
        for path in paths:
            guardian.forget_cgroup(path)


class GroupWatch:
    """The kernel counts, and tells where it can."""

    def __init__(self, cgroup: Cgroup) -> None:
        self.cgroup: Cgroup | None = cgroup
        self._group = cgroup
        self._timer: asyncio.TimerHandle | None = None

    def start(self, on_exceeded: OnExceeded) -> None:
        self._on_exceeded = on_exceeded
        for event in self._group.events:
            asyncio.get_running_loop().add_reader(event.descriptor, self._on_event, event)
        if not self._group.events:
            self._ask_again()

    def _on_event(self, event: LimitEvent) -> None:
        event.rearm()
        self._ask()

    def _ask(self) -> bool:
        exceeded = self._group.exceeded()
        if exceeded:
            self._unwatch()
            self._on_exceeded(exceeded)
        return exceeded is not None

    def _ask_again(self) -> None:
        if not self._ask():
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL_S, self._ask_again)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for event in self._group.events:
            asyncio.get_running_loop().remove_reader(event.descriptor)

    def stop(self) -> str | None:
        self._unwatch()
        exceeded = self._group.exceeded()
        self._group.remove()
        return exceeded


class TreeWatch:
    """Without a control group: look at the tree a few times a second."""

    cgroup: Cgroup | None = None

    def __init__(self, limits: Limits, root: int, scratch: Sequence[str]) -> None:
        self._limits, self._root, self._scratch = limits, root, scratch
        self._task: asyncio.Task[None] | None = None
        self._exceeded: str | None = None

    def start(self, on_exceeded: OnExceeded) -> None:
        if self._limits.memory_mb or self._limits.processes:
            self._task = asyncio.get_running_loop().create_task(self._watch(on_exceeded))

    async def _watch(self, on_exceeded: OnExceeded) -> None:
        while self._exceeded is None:
            self._exceeded = await asyncio.to_thread(self._look)
            await asyncio.sleep(0 if self._exceeded else _INTERVAL_S)
        on_exceeded(self._exceeded)

    def stop(self) -> str | None:
        if self._task is not None:
            self._task.cancel()
        return self._exceeded

    def _look(self) -> str | None:
        tree = proctree.descendants(self._root)
        if self._limits.processes and sum(entry.threads for entry in tree) > self._limits.processes:
            return "processes"
        return "memory" if self._limits.memory_mb and self._over_memory(tree) else None

    def _over_memory(self, tree: Sequence[proctree.Entry]) -> bool:
        """Resident pages count shared ones several times, so only a suspicion is looked at closely."""
        most = (self._limits.memory_mb or 0) * 1024 * 1024
        in_files = sum(_used_bytes(path) for path in self._scratch)
        if in_files + sum(entry.resident_pages for entry in tree) * _PAGE <= most:
            return False
        return in_files + sum(_private_bytes(entry) for entry in tree) > most


def _used_bytes(path: str) -> int:
    try:
        usage = os.statvfs(path)
    except OSError:
        return 0
    return (usage.f_blocks - usage.f_bfree) * usage.f_frsize


def _private_bytes(entry: proctree.Entry) -> int:
    """Memory that only this tree can be blamed for, shared pages divided among their users."""
    try:
        with open(f"/proc/{entry.pid}/smaps_rollup", encoding="ascii") as file:
            rows = dict(line.split(":", 1) for line in file if line.startswith("Pss_"))
        return sum(int(rows[name].split()[0]) * 1024 for name in ("Pss_Anon", "Pss_Shmem"))
    except (OSError, KeyError):
        return entry.resident_pages * _PAGE
