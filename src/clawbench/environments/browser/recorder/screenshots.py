"""A screenshot for every action: taken when the page had its moment, packed later, never left out."""

from __future__ import annotations

import asyncio
import os
import queue
import shutil
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clawbench.environments.browser.png import PngEncoder
from clawbench.environments.browser.priority import stand_back
from clawbench.environments.browser.screen import Screen

MOST_WAITING_IN_MEMORY = 200 << 20
"""Bytes; pixels beyond this wait on disk, unpacked, until the encoder gets to them."""

PIECE = struct.Struct("<II")


@dataclass(frozen=True)
class Taken:
    """A screenshot that waits to be packed."""

    name: str
    bands: dict[int, bytes] | Path
    """What changed since the one before: nothing, some bands or all; or the file that holds them."""
    size: int
    """Bytes in memory."""


class Names:
    """Names of screenshots: the timestamp in ms, with a number from the second one in that ms on."""

    def __init__(self) -> None:
        self._in_ms: Counter[int] = Counter()

    def next(self, timestamp: int) -> str:
        self._in_ms[timestamp] += 1
        number = self._in_ms[timestamp]
        return f"{timestamp}.png" if number == 1 else f"{timestamp}-{number}.png"


class Screenshots:
    """One thread copies what changed on the screen when told to, a second makes the files."""

    def __init__(
        self, screen: Screen, directory: Path, on_problem: Callable[[str], None] | None = None
    ) -> None:
        """`on_problem` hears, on a thread of its own, of what could not be kept."""
        self._on_problem = on_problem
        self.problems: list[str] = []
        self.taken = 0
        """How many have been copied from the screen."""
        self.added = 0
        """How many others have taken."""
        self._screen, self._directory = screen, directory
        directory.mkdir(exist_ok=True)
        self._naming = Names()
        self._names: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._waiting: queue.SimpleQueue[Taken | None] = queue.SimpleQueue()
        self._put_bytes = self._got_bytes = 0
        self._threads = [
            threading.Thread(target=self._take, name="screenshots-take", daemon=True),
            threading.Thread(target=self._keep, name="screenshots-keep", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def take(self, timestamp: int) -> str:
        """Keep what the screen shows at an action just done; returns the name of its file."""
        name = self._naming.next(timestamp)
        self._screen.calm.stir()
        self._names.put(name)
        return name

    def add(self, timestamp: int, png: bytes) -> str:
        """Keep a picture that somebody else took; returns its file's name."""
        name = self._naming.next(timestamp)
        write_picture(self._directory / name, png)
        self.added += 1
        return name

    async def close(self) -> None:
        """Return when every screenshot is on disk."""
        self._names.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _take(self) -> None:
        frame = bytearray()
        try:
            for names in self._batches():
                if frame:
                    bands = self._screen.bands(frame, self._screen.update(frame))
                else:
                    frame = self._screen.snapshot()
                    bands = self._screen.bands(frame)
                self._pass_on(names, bands)
        finally:
            self._waiting.put(None)

    def _pass_on(self, names: list[str], bands: dict[int, bytes]) -> None:
        taken = self._in_memory_or_on_disk(names[0], bands)
        self._put_bytes += taken.size
        self._waiting.put(taken)
        for name in names[1:]:
            self._waiting.put(Taken(name, {}, 0))
        self.taken += len(names)

    def _batches(self) -> Iterator[list[str]]:
        """What is asked for; what comes within a moment, or while the screen is being read, shares a look."""
        while (name := self._names.get()) is not None:
            self._screen.calm.wait()
            names = [name]
            while not self._names.empty():
                if (another := self._names.get()) is None:
                    yield names
                    return
                names.append(another)
            yield names

    def _in_memory_or_on_disk(self, name: str, bands: dict[int, bytes]) -> Taken:
        size = sum(map(len, bands.values()))
        if self._put_bytes - self._got_bytes + size <= MOST_WAITING_IN_MEMORY:
            return Taken(name, bands, size)
        path = self._directory / f".{name}.raw"
        try:
            path.write_bytes(b"".join(PIECE.pack(top, len(p)) + p for top, p in bands.items()))
        except OSError:
            path.unlink(missing_ok=True)
            return Taken(name, bands, size)
        return Taken(name, path, 0)

    def _keep(self) -> None:
        stand_back()
        encoder = PngEncoder(self._screen.size, self._screen.stride)
        latest: Path | None = None
        while (taken := self._waiting.get()) is not None:
            path = self._directory / taken.name
            try:
                bands = taken.bands if isinstance(taken.bands, dict) else _read_back(taken.bands)
                if bands or latest is None:
                    packed, latest = encoder.encode(bands), None
                    write_picture(path, packed)
                    latest = path
                else:
                    duplicate(latest, path)
            except OSError as error:
                self._report(f"{self._directory}: {error.strerror}")
            self._got_bytes += taken.size

    def _report(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)
            if self._on_problem is not None:
                self._on_problem(problem)


def _read_back(path: Path) -> dict[int, bytes]:
    bands = {}
    with path.open("rb") as file:
        while head := file.read(PIECE.size):
            top, length = PIECE.unpack(head)
            bands[top] = file.read(length)
    path.unlink()
    return bands


def write_picture(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def duplicate(existing: Path, path: Path) -> None:
    with suppress(OSError):
        os.link(existing, path)
        return
    shutil.copyfile(existing, path)
