"""A call under way, on disk: if this process is killed, what had come so far is still there."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawbench.errors import InputError


class OpenCall:
    """A file: the question as a JSON line, the answer's head as another, then its body as it arrives."""

    def __init__(self, directory: Path, head: Mapping[str, Any]) -> None:
        self._path = directory / str(head["id"])
        self._fd = -1
        # Room on the disk is the final line's business: a call goes on without its safety copy.
        with contextlib.suppress(OSError):
            directory.mkdir(exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
            self._fd = os.open(self._path, flags, 0o644)
            self._write(_line(head))

    @classmethod
    def nowhere(cls) -> OpenCall:
        """For a call that is over: nothing is written."""
        call = cls.__new__(cls)
        call._path, call._fd = Path(), -1
        return call

    def begin_answer(self, head: Mapping[str, Any]) -> None:
        self._write(_line(head))

    def write(self, chunk: bytes) -> None:
        self._write(chunk)

    def close(self) -> None:
        """The call is written down elsewhere."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _write(self, data: bytes) -> None:
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.write(self._fd, data)


@dataclass(frozen=True)
class CutOffCall:
    """What a killed process left of a call."""

    path: Path
    head: dict[str, Any]
    answer: dict[str, Any]
    body: bytes


def cut_off_calls(directory: Path) -> Iterator[CutOffCall]:
    """Calls that were under way when their gateway was killed, in the order in which they began."""
    for path in sorted(directory.glob("*")):
        question, asked, rest = path.read_bytes().partition(b"\n")
        answer, began, body = rest.partition(b"\n")
        if not asked:
            # Killed while the question was written down: it was not sent.
            continue
        yield CutOffCall(path, _object(path, question), _object(path, answer) if began else {}, body)


def _object(path: Path, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise InputError(
        "is not the beginning of a model call", file=path, remedy="Remove the file; the other calls are kept"
    )


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
