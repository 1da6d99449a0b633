"""What the fault tests need of the machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NEEDED = ("chromium", "Xvfb", "ffmpeg", "ffprobe", "bwrap")


@pytest.fixture(autouse=True)
def _machine() -> None:
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory whose name leaves room for unix sockets below it."""
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/tmp") as path:
        yield Path(path)
