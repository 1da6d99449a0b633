"""Room on the disk that is set aside for a run's last words, should everything else fill it."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clawbench.results.files import write_atomic

SLOTS, SLOT_SIZE = 3, 256 << 10
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE, which Python's own call does not offer."""

_libc = ctypes.CDLL(None, use_errno=True)


def no_room(error: BaseException) -> bool:
    """Whether an error says that a disk, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in NO_ROOM


def cannot_be_kept(problem: str) -> str:
    """What a user is told when something of the record could not be written: the run ends."""
    return f"The record cannot be kept: {problem}. Free space there, or choose another --output"


def claim_room(descriptor: int, start: int, length: int) -> None:
    """Take room for a file beyond its end, which stays where it is; OSError where there is none."""
    if _libc.fallocate(descriptor, KEEP_SIZE, ctypes.c_long(start), ctypes.c_long(length)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@dataclass(frozen=True)
class Reserve:
    """A directory of files that hold room; one of them becomes the file for which there is none else."""

    path: Path

    def set_aside(self) -> None:
        self.path.mkdir(exist_ok=True)
        for number in range(SLOTS):
            descriptor = os.open(self.path / str(number), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.posix_fallocate(descriptor, 0, SLOT_SIZE)
            finally:
                os.close(descriptor)

    def release(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, path: Path, data: str | bytes) -> None:
        """Like `write_atomic`, at the expense of the reserve where the disk is full."""
        try:
            write_atomic(path, data)
        except OSError as error:
            if not no_room(error):
                raise
            if not self._use_slot(path, data.encode() if isinstance(data, str) else data):
                self.release()
                write_atomic(path, data)

    def _use_slot(self, path: Path, data: bytes) -> bool:
        """Nobody else can take the room in between: it is written in place, then moved."""
        for slot in sorted(self.path.glob("*")) if len(data) <= SLOT_SIZE else ():
            with suppress(OSError):
                descriptor = os.open(slot, os.O_WRONLY | os.O_CLOEXEC)
                try:
                    os.pwrite(descriptor, data, 0)
                    os.ftruncate(descriptor, len(data))
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                os.replace(slot, path)
                return True
        return False
