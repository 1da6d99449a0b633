"""The guardian's own program: waits for its parent's end and clears up what the parent left.

Standard library only; started as `python -I -S -E <this>`. One JSON line per thing to watch or forget on
stdin; end of file without `quit` means that the parent was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clawbench.sandbox import leftovers, proctree
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import leftovers
    import proctree

WITHIN_S = 2.7


def read_until_end() -> dict[tuple[str, str], dict[str, Any]] | None:
    """What was watched when the parent vanished; None where it said goodbye."""
    watched: dict[tuple[str, str], dict[str, Any]] = {}
    for line in sys.stdin.buffer:
        try:
            item = json.loads(line)
        except ValueError:  # the parent died in the middle of a line
            continue
        if item["do"] == "quit":
            return None
        key = (item["kind"], str(item["name"]))
        if item["do"] == "watch":
            watched[key] = item
        else:
            watched.pop(key, None)
    return watched


def end_process(item: dict[str, Any], deadline: float) -> None:
    """First all below it, so that nobody is orphaned out of sight, then the process itself.

    One that dies with its parent, as bwrap does, may be gone already: its group tells what it had begun.
    """
    pid = int(item["name"])

    def alive() -> list[proctree.Entry]:
        return [entry for entry in proctree.entries([pid]) if entry.started == item["started"]]

    def below() -> list[proctree.Entry]:
        return [entry for entry in proctree.descendants(pid) if alive() and not is_guardian(entry)]

    def orphaned() -> list[proctree.Entry]:
        return [entry for entry in proctree.left_of_group(pid) if not is_guardian(entry)]

    if alive():
        proctree.kill_until_gone(below, deadline)
        proctree.kill_until_gone(alive, deadline)
    proctree.kill_until_gone(orphaned, deadline)


def is_guardian(entry: proctree.Entry) -> bool:
    """A watched process may have a guardian of its own, which has to clear up after it."""
    try:
        with open(f"/proc/{entry.pid}/cmdline", "rb") as file:
            return os.fsencode(os.path.abspath(__file__)) in file.read().split(b"\0")
    except OSError:
        return False


def end_cgroup(path: str, deadline: float) -> None:
    proctree.kill_until_gone(lambda: proctree.entries(leftovers.cgroup_processes(path)), deadline)
    leftovers.remove_cgroup(path, deadline)


def clear_up(watched: dict[tuple[str, str], dict[str, Any]]) -> None:
    deadline = time.monotonic() + WITHIN_S
    for (kind, _), item in watched.items():
        if kind == "process":
            end_process(item, deadline)
    for kind, name in watched:
        if kind == "marker":
            proctree.kill_until_gone(partial(proctree.marked, name), deadline)
        elif kind == "cgroup":
            end_cgroup(name, deadline)
    for kind, name in watched:
        if kind == "directory":
            leftovers.remove_directory(name)
        elif kind == "record":
            start(json.loads(name))


def start(command: list[str]) -> None:
    """Leave a command behind; it ends by itself."""
    nowhere = subprocess.DEVNULL
    with contextlib.suppress(OSError):
        subprocess.Popen(
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, cwd="/", start_new_session=True
        )


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.write(sys.stdout.fileno(), b"ready\n")
    watched = read_until_end()
    if watched:
        clear_up(watched)


if __name__ == "__main__":
    main()
