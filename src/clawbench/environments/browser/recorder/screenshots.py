"""A screenshot for every action: copied at once, packed on a thread of its own, never left out."""

from __future__ import annotations

import asyncio
import os
import queue
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clawbench.environments.browser.png import PngEncoder
from clawbench.environments.browser.screen import Screen

MOST_FRAMES_IN_MEMORY = 24
"""Frames beyond this wait on disk, unpacked, until the encoder gets to them."""


@dataclass(frozen=True)
class Job:
    name: str
    frame: bytes | Path | None
    """The pixels, the file that holds them, or None: the same as the job before."""


class Screenshots:
    def __init__(self, screen: Screen, directory: Path) -> None:
        self.problems: list[str] = []
        self._screen, self._directory = screen, directory
        self._latest_frame = b""
        self._latest_timestamp, self._in_this_ms = -1, 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._encoder = PngEncoder(screen.size, screen.stride)
        self._thread = threading.Thread(target=self._work, name="screenshots", daemon=True)
        self._thread.start()

    def take(self, timestamp: int) -> str:
        """Keep what the screen shows now; returns the name of the file that will hold it."""
        name = self._name(timestamp)
        if self._latest_frame and not self._screen.differs(self._latest_frame):
            self._jobs.put(Job(name, None))
        else:
            self._latest_frame = self._screen.snapshot()
            self._jobs.put(Job(name, self._stored(name, self._latest_frame)))
        return name

    async def close(self) -> None:
        """Return when every screenshot is on disk."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _name(self, timestamp: int) -> str:
        same = timestamp == self._latest_timestamp
        self._latest_timestamp, self._in_this_ms = timestamp, self._in_this_ms + 1 if same else 1
        return f"{timestamp}.png" if self._in_this_ms == 1 else f"{timestamp}-{self._in_this_ms}.png"

    def _stored(self, name: str, frame: bytes) -> bytes | Path:
        if self._jobs.qsize() < MOST_FRAMES_IN_MEMORY:
            return frame
        path = self._directory / f".{name}.raw"
        try:
            path.write_bytes(frame)
        except OSError:
            return frame
        return path

    def _work(self) -> None:
        latest: Path | None = None
        while (job := self._jobs.get()) is not None:
            path = self._directory / job.name
            try:
                if job.frame is None and latest is not None:
                    _duplicate(latest, path)
                elif job.frame is not None:
                    self._write(path, job.frame)
                latest = path
            except OSError as error:
                self._report(f"{path.parent}: {error.strerror}")

    def _write(self, path: Path, frame: bytes | Path) -> None:
        pixels = frame if isinstance(frame, bytes) else frame.read_bytes()
        unfinished = path.with_name(f".{path.name}")
        try:
            unfinished.write_bytes(self._encoder.encode(pixels))
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
            if isinstance(frame, Path):
                frame.unlink(missing_ok=True)

    def _report(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def _duplicate(existing: Path, path: Path) -> None:
    with suppress(OSError):
        os.link(existing, path)
        return
    shutil.copyfile(existing, path)
