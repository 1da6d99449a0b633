"""A small disk that can be full from one moment to the next."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = 256 << 20
LEFT_FREE = 32 << 10


@contextmanager
def small_disk(path: Path) -> Iterator[Path]:
    """A file system in memory; skips where we may not mount one."""
    path.mkdir()
    done = _mount("-t", "tmpfs", "-o", f"size={SIZE}", "clawbench-faults", str(path))
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def shrink(path: Path) -> None:
    """Leave next to no room: what is there stays."""
    for _ in range(100):
        state = os.statvfs(path)
        used = (state.f_blocks - state.f_bfree) * state.f_frsize
        if not _mount("-o", f"remount,size={used + LEFT_FREE}", str(path)).returncode:
            return
    raise AssertionError("the disk fills up faster than it shrinks")


def _mount(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
