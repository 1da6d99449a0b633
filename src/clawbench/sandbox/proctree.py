"""Process trees as /proc shows them. Standard library only: also used by programs outside the package."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One process; its start time tells it from a later process with the same id."""

    pid: int
    parent: int
    group: int
    state: str
    threads: int
    started: int
    resident_pages: int


def read_entry(pid: int) -> Entry | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read().decode("ascii", "replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    state, parent, group = fields[0], int(fields[1]), int(fields[2])
    return Entry(pid, parent, group, state, int(fields[17]), int(fields[19]), int(fields[21]))


def entries(pids: Iterable[int]) -> list[Entry]:
    found = (read_entry(pid) for pid in pids)
    return [entry for entry in found if entry is not None and entry.state not in "ZX"]


def all_entries() -> dict[int, Entry]:
    found = (read_entry(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {entry.pid: entry for entry in found if entry is not None}


def descendants(root: int, table: dict[int, Entry] | None = None) -> list[Entry]:
    """All below `root`, itself not included, parents before children; zombies left out."""
    table = all_entries() if table is None else table
    children: dict[int, list[Entry]] = {}
    for entry in table.values():
        children.setdefault(entry.parent, []).append(entry)
    found: list[Entry] = []
    open_ends = [root]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found += below
        open_ends += [entry.pid for entry in below]
    return [entry for entry in found if entry.state not in "ZX"]


def left_of_group(leader: int) -> list[Entry]:
    """The processes of a group whose leader has ended; zombies left out."""
    table = all_entries()
    if leader in table and table[leader].state not in "ZX":
        return []
    return [entry for entry in table.values() if entry.group == leader and entry.state not in "ZX"]


def marked(marker: str) -> list[Entry]:
    """All processes whose environment holds the entry `marker` (`NAME=value`)."""
    wanted = marker.encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if wanted in file.read().split(b"\0"):
                found.append(int(name))
    return entries(found)


def kill(entry: Entry) -> None:
    """End exactly this process, never one that got its number later."""
    try:
        handle = os.pidfd_open(entry.pid)
    except OSError:
        return
    try:
        current = read_entry(entry.pid)
        if current is not None and current.started == entry.started:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(handle)


def kill_until_gone(
    find: Callable[[], Iterable[Entry]], deadline: float, spare: Collection[int] = ()
) -> bool:
    """Kill what `find` finds until it finds nothing; False where something is left at the deadline."""
    while True:
        found = [entry for entry in find() if entry.pid not in spare]
        if not found:
            return True
        if time.monotonic() > deadline:
            return False
        for entry in found:
            kill(entry)
        _await_exit(found, deadline)


def _await_exit(entries: Iterable[Entry], deadline: float) -> None:
    for entry in entries:
        while (current := read_entry(entry.pid)) is not None and current.started == entry.started:
            if current.state in "ZX" or time.monotonic() > deadline:
                break
            time.sleep(0.005)
