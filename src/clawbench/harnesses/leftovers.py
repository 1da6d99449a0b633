"""Reading what an agent's program left behind: it could have written anything there."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawbench.sandbox import Ended

LARGEST = 256 * 1024 * 1024
LONGEST_TEXT = 2000


@dataclass(frozen=True)
class Leftovers:
    """HOME, the output and the end of a program that is gone."""

    home: Path
    stdout: Path
    stderr: Path
    ended: Ended | None
    """None where the run ended it."""

    def json_lines(self) -> Iterator[dict[str, Any]]:
        """The objects on stdout, one a line; other lines are passed over."""
        return json_lines(read_regular(self.stdout) or b"")

    def text(self) -> str:
        return (read_regular(self.stdout) or b"").decode("utf-8", "replace")

    def errors(self) -> str:
        return (read_regular(self.stderr) or b"").decode("utf-8", "replace")

    def json(self, name: str) -> dict[str, Any]:
        """A JSON object in HOME; empty where there is none."""
        try:
            value = json.loads(self.read(name) or b"null")
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def read(self, name: str) -> bytes | None:
        """A file in HOME, without following a link on the way to it."""
        path = self.home / name
        return read_regular(path) if self._is_within(path) else None

    def files(self, pattern: str) -> list[Path]:
        """What fits the pattern in HOME and is not reached through a link."""
        return [path for path in sorted(self.home.glob(pattern)) if self._is_within(path)]

    def _is_within(self, path: Path) -> bool:
        home = self.home.resolve()
        try:
            return path.parent.resolve() == home / path.parent.relative_to(self.home)
        except (OSError, RuntimeError):  # a circle of links
            return False


def json_lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield value


def read_regular(path: Path) -> bytes | None:
    """The file's content, unless it is a link, a pipe or too large: it may be a trap of the agent's."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                return file.read(LARGEST)
    return None


def count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def short(value: Any) -> str:
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""
