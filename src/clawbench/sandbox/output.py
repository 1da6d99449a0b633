"""A program's output on its way to a host file, through a pipe: the program never holds the file itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

_CHUNK = 64 * 1024


class OutputPipe:
    """Appends to `path` what is written to `write_end`, at most `most` bytes."""

    def __init__(self, path: Path, most: int | None) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_CREAT | os.O_APPEND, 0o644)
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self._left = most

    def start(self, on_full: Callable[[], None]) -> None:
        """Pass on what comes, once the program holds the other end."""
        os.close(self.write_end)
        asyncio.get_running_loop().add_reader(self._read_end, self._pass_on, on_full)

    def _pass_on(self, on_full: Callable[[], None]) -> None:
        data = os.read(self._read_end, _CHUNK)
        if not data:
            asyncio.get_running_loop().remove_reader(self._read_end)
        elif not self._append(data):
            on_full()

    def _append(self, data: bytes) -> bool:
        """False where there is no room for all of it."""
        room = len(data) if self._left is None else min(self._left, len(data))
        if self._left is not None:
            self._left -= room
        kept = memoryview(data)[:room]
        with contextlib.suppress(OSError):  # a full disk: what was said is lost, who said it is not to blame
            while kept:
                kept = kept[os.write(self._file, kept) :]
        return room == len(data)

    def close(self) -> None:
        """Take what is still in the pipe; its writers are gone."""
        asyncio.get_running_loop().remove_reader(self._read_end)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._read_end, _CHUNK):
                self._append(data)
        os.close(self._read_end)
        os.close(self._file)
