"""Room on the disk that is set aside for a run's last words, should everything else fill it."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from clawbench.results.files import write_atomic

SIZE = 1 << 20
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def no_room(error: BaseException) -> bool:
    """Whether an error says that a disk, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in NO_ROOM


def cannot_be_kept(problem: str) -> str:
    """What a user is told when something of the record could not be written: the run ends."""
    return f"The record cannot be kept: {problem}. Free space there, or choose another --output"


@dataclass(frozen=True)
class Reserve:
    """A file that takes up room until the room is needed; any process of the run may give it up."""

    path: Path

    def set_aside(self) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, SIZE)
        finally:
            os.close(descriptor)

    def release(self) -> None:
        self.path.unlink(missing_ok=True)

    def write(self, path: Path, data: str | bytes) -> None:
        """Like `write_atomic`, at the expense of the reserve where the disk is full."""
        try:
            write_atomic(path, data)
        except OSError as error:
            if not no_room(error):
                raise
            self.release()
            write_atomic(path, data)
