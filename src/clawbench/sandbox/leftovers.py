"""Removing directories and control groups. Standard library only: also used outside the package."""

from __future__ import annotations

import errno
import os
import subprocess
import time


def remove_directory(path: str) -> None:
    """Remove a tree that a sandboxed program may have locked or nested beyond any recursion limit."""
    _quietly("rm", "-rf", "--", path)
    if os.path.lexists(path):
        _quietly("chmod", "-R", "u+rwX", "--", path)
        _quietly("rm", "-rf", "--", path)


def _quietly(*argv: str) -> None:
    nothing = subprocess.DEVNULL
    subprocess.run(argv, stdin=nothing, stdout=nothing, stderr=nothing, check=False)


def remove_cgroup(path: str, deadline: float) -> None:
    """Remove a control group, which is busy until its last process is reaped."""
    while True:
        try:
            os.rmdir(path)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
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
