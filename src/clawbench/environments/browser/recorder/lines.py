"""A record that outlives a full disk: a line that does not fit is left out whole, and this is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from clawbench.results import JsonLines


class RecordFile:
    """One JSONL file of a recording."""

    def __init__(self, path: Path, on_problem: Callable[[str], None] | None = None) -> None:
        """`on_problem` hears of the first line that could not be written."""
        self.count = 0
        self.problem: str | None = None
        """Why the first missing line could not be written."""
        self._on_problem = on_problem
        self._lines = JsonLines(path)
        self._earlier = path.read_bytes().count(b"\n")

    def append(self, value: Any) -> int | None:
        """Returns the line's number in the file, from 0 on; None where it could not be written."""
        try:
            self._lines.append(value)
        except OSError as error:
            self._report(f"{self._lines.path}: {error.strerror}")
            return None
        self.count += 1
        return self._earlier + self.count - 1

    def close(self) -> None:
        self._lines.close()

    def _report(self, problem: str) -> None:
        if self.problem is None:
            self.problem = problem
            if self._on_problem is not None:
                self._on_problem(problem)
