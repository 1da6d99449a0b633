"""A record that outlives a full disk: it is said before it is too late, and no line is ever cut short."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clawbench.results import JsonLines, claim_room, no_room

AHEAD = 128 << 10
"""Bytes of room that a file claims ahead of what it holds: the last lines fit when the disk is full."""


class RecordFile:
    """One JSONL file of a recording."""

    def __init__(self, path: Path, on_problem: Callable[[str], None] | None = None) -> None:
        """`on_problem` hears, once, that lines can be written no more, or soon will not be."""
        self.count = 0
        self.problem: str | None = None
        """Why not."""
        self._on_problem = on_problem
        self._lines = JsonLines(path)
        self._earlier = path.read_bytes().count(b"\n")
        self._room = self._lines.size
        self._claim_more()

    def append(self, value: Any) -> int | None:
        """Returns the line's number in the file, from 0 on; None where it could not be written."""
        try:
            self._lines.append(value)
        except OSError as error:
            self._report(f"{self._lines.path}: {error.strerror}")
            return None
        self.count += 1
        if self._lines.size > self._room - AHEAD // 2:
            self._claim_more()
        return self._earlier + self.count - 1

    def close(self) -> None:
        """Give back the room that was not needed."""
        if self._lines.fileno() >= 0:
            os.ftruncate(self._lines.fileno(), self._lines.size)
        self._lines.close()

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
