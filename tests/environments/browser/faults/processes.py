"""Finding the processes of a run by what they are, and telling whether any is left."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

MARKS = {
    "session": "clawbench.environments.browser.session",
    "browser": "--remote-debugging-pipe",
    "renderer": "--type=renderer",
    "gpu": "--type=gpu-process",
    "storage": "--utility-sub-type=storage.mojom.StorageService",
    "zygote": "--type=zygote",
    "display": "Xvfb",
    "ffmpeg": "ffmpeg",
    "guardian": "sandbox/guard.py",
    "agent": "/opt/faults/agent.py",
    "wrapper": "cutting-browser",
}
WRAPPERS = ("bwrap", "inside.py", "/proc/self/fd/")


@dataclass(frozen=True)
class Process:
    pid: int
    started: str
    words: tuple[str, ...]

    @property
    def running(self) -> bool:
        stat = _stat(self.pid)
        return stat is not None and stat[19] == self.started and stat[0] != "Z"


def tree(root: int) -> list[Process]:
    """Every process below `root`."""
    stats = {int(name): stat for name in os.listdir("/proc") if name.isdigit() and (stat := _stat(int(name)))}
    found: dict[int, Process] = {}
    wanted = {root}
    while wanted:
        wanted = {pid for pid, stat in stats.items() if int(stat[1]) in wanted} - set(found)
        found.update({pid: Process(pid, stats[pid][19], _words(pid)) for pid in wanted})
    return list(found.values())


def one(pid: int) -> list[Process]:
    stat = _stat(pid)
    return [Process(pid, stat[19], _words(pid))] if stat else []


def part(root: int, name: str) -> list[Process]:
    """The processes below `root` that are this part of a run, the outermost first."""
    mark = MARKS[name]
    return [one for one in tree(root) if _is(one, name, mark)]


def _is(process: Process, name: str, mark: str) -> bool:
    words = process.words
    if not words or any(wrapper in word for word in words[:5] for wrapper in WRAPPERS):
        return False
    if name in ("display", "ffmpeg"):
        return os.path.basename(words[0]) == mark
    if name == "browser":
        of_another = any(word.startswith("--type=") for word in words) or "python" in words[0]
        return mark in words and not of_another
    return any(mark in word for word in words)


def _stat(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _words(pid: int) -> tuple[str, ...]:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ()
    if "--type=" in raw:  # Chromium's children rewrite theirs into one word
        raw = raw.replace(" ", "\0")
    return tuple(raw.rstrip("\0").split("\0"))


def control_groups(pids: set[int], since: float) -> list[Path]:
    """Groups that processes with these ids made; older ones are of others who had the same id."""
    found = (path for path in Path("/sys/fs/cgroup").glob("*/**/clawbench-*") if path.is_dir())
    return [path for path in found if int(path.name.split("-")[1]) in pids and path.stat().st_mtime > since]
