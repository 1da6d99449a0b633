"""A record that outlives a full disk: it is said before it is too late, and no line is ever cut short."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clawbench.results import JsonLines, claim_room, no_room

AHEAD = 128 << 10
"""Bytes of room that a file claims ahead of what it holds: the last lines fit when the disk is full."""

SOON_S = 0.02


class RecordFile:
    """One JSONL file of a recording."""

    def __init__(self, path: Path, on_problem: Callable[[str], None] | None = None) -> None:
        """`on_problem` hears, once, that lines can be written no more, or soon will not be."""
        self.count = 0
        self.problem: str | None = None
        """Why not."""
        self._on_problem = on_problem
        self._lines = JsonLines(path)
        self._waiting: list[Any] = []
        self._earlier = path.read_bytes().count(b"\n")
        self._room = self._lines.size
        self._claim_more()

    def append(self, value: Any) -> int | None:
        """Returns the line's number in the file, from 0 on; None where it could not be written."""
        self._waiting.append(value)
        return self._earlier + self.count - 1 if self._write() else None

    def append_soon(self, value: Any) -> None:
        """Write it within SOON_S, with others: in the time of a write a browser could answer."""
        if not self._waiting:
            asyncio.get_running_loop().call_later(SOON_S, self._write)
        self._waiting.append(value)

    def close(self) -> None:
        """Write what waits, and give back the room that was not needed."""
        self._write()
        if self._lines.fileno() >= 0:
            os.ftruncate(self._lines.fileno(), self._lines.size)
        self._lines.close()

    def _write(self) -> bool:
        values, self._waiting = self._waiting, []
        if not values:
            return True
        try:
            self._lines.extend(values)
        except OSError as error:
            self._report(f"{self._lines.path}: {error.strerror}")
            return False
        self.count += len(values)
        if self._lines.size > self._room - AHEAD // 2:
            self._claim_more()
        return True

    def _claim_more(self) -> None:
        start = max(self._room, self._lines.size)
        try:
            claim_room(self._lines.fileno(), start, AHEAD)
        except OSError as error:
            if no_room(error):
                self._report(f"{self._lines.path}: {error.strerror}")
        self._room = start + AHEAD  # also where the file system cannot do it: lines then tell when they fail

    def _report(self, problem: str) -> None:
        if self.problem is None:
            self.problem = problem
            if self._on_problem is not None:
                self._on_problem(problem)
