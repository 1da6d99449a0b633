"""Removing directories and control groups. Standard library only: also used outside the package."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from typing import Any


def remove_directory(path: str) -> None:
    """Remove a tree that a sandboxed program may have made unreadable; missing is fine."""

    def unlock(function: Callable[[str], object], name: str, _: Any) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(name), 0o700)
            if os.path.isdir(name) and not os.path.islink(name):
                os.chmod(name, 0o700)
        with contextlib.suppress(OSError):
            if function in (os.unlink, os.remove, os.rmdir):
                function(name)
            elif os.path.isdir(name) and not os.path.islink(name):
                shutil.rmtree(name, ignore_errors=True)

    for _ in range(3):
        shutil.rmtree(path, onerror=unlock)
        if not os.path.lexists(path):
            return


def remove_cgroup(path: str, deadline: float) -> None:
    """Remove a control group, which is busy until its last process is reaped."""
    while True:
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
        else:
            return


def cgroup_processes(path: str) -> list[int]:
    try:
        with open(os.path.join(path, "cgroup.procs"), encoding="ascii") as file:
            return [int(line) for line in file]
    except OSError:
        return []
