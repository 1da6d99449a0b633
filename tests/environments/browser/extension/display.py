"""A screen for a browser with windows."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def running_display() -> Iterator[str]:
    """The name of an X display of its own."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    read_fd, write_fd = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[write_fd], stderr=subprocess.DEVNULL)
    os.close(write_fd)
    try:
        with os.fdopen(read_fd) as ready:
            yield f":{ready.readline().strip()}"
    finally:
        process.terminate()
        process.wait()
