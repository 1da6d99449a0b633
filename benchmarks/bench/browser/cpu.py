"""What recording a screen costs in CPU time."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable
from pathlib import Path

from bench.browser.subjects import SIZE, Subject, ended

WATCHED_S = 8.0
FPS = 15
BROWSERS = ("chrom", "bwrap")


async def recording(subject: Subject) -> float:
    """Percent of a core that the session, its encoder and its display take, without the browser."""
    return await _percent(pid for pid in tree(subject.pid) if not name_of(pid).startswith(BROWSERS))


async def grabbing(subject: Subject, file: Path) -> float:
    """Percent of a core that ffmpeg takes to film the same page plainly, with the display it asks."""
    assert subject.display is not None
    process = await asyncio.create_subprocess_exec(
        *("ffmpeg", "-loglevel", "error", "-nostdin", "-f", "x11grab", "-framerate", str(FPS)),
        *("-video_size", f"{SIZE[0]}x{SIZE[1]}", "-i", subject.display.name, "-c:v", "libx264"),
        *("-preset", "ultrafast", "-pix_fmt", "yuv420p", "-y", str(file)),
    )
    try:
        await asyncio.sleep(1)
        return await _percent([process.pid, subject.display.pid])
    finally:
        await ended(process)


async def _percent(pids: Iterable[int]) -> float:
    pids = list(pids)
    before, began = sum(map(seconds_of, pids)), time.monotonic()
    await asyncio.sleep(WATCHED_S)
    return (sum(map(seconds_of, pids)) - before) / (time.monotonic() - began) * 100


def seconds_of(pid: int) -> float:
    """CPU time of a process so far, on all its threads; 0 where it is gone."""
    nanoseconds = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            nanoseconds += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
    except OSError:
        return 0.0
    return nanoseconds / 1e9


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def tree(pid: int) -> set[int]:
    """A process and all below it."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found = frontier = {pid}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier} - found
        found = found | frontier
    return found
