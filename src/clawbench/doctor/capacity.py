"""How much of the machine there is, and the two programs every run needs: Python and git."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from clawbench.doctor.part import Finding, Status, fine
from clawbench.doctor.programs import ask, find_program, version_in
from clawbench.doctor.system import not_there

GIT_PACKAGES = ("git",)
_OLDEST_GIT = (2, 30)
_OLDEST_PYTHON = (3, 11)
_GB = 10**9
_WANTED = 2 * _GB


def check_python() -> Finding:
    found = f"{platform.python_version()}, {sys.executable}"
    if sys.version_info < _OLDEST_PYTHON:
        return Finding(Status.MISSING, found, "Install Python 3.11 or newer")
    return fine(found)


def check_git() -> Finding:
    path = find_program("git")
    if path is None:
        return not_there(GIT_PACKAGES)
    answer = ask(path, "--version")
    version = version_in(answer.text) if answer.ok else None
    if version is None or version < _OLDEST_GIT:
        detail = f"{answer.text or path}; at least 2.30 is needed"
        return not_there(GIT_PACKAGES, detail)
    return fine(f"{'.'.join(map(str, version))}, {path}")


def check_disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    detail = f"{free / _GB:.1f} GB free in {Path.cwd()}"
    if free < _WANTED:
        return Finding(
            Status.WARNING, detail, "Free some, or write runs elsewhere with --output: 2 GB are good"
        )
    return fine(detail)


def check_memory() -> Finding:
    available = available_memory()
    detail = f"{available / _GB:.1f} GB available"
    if available < _WANTED:
        return Finding(Status.WARNING, detail, "Close something, or run one task at a time: 2 GB are good")
    return fine(detail)


def available_memory() -> int:
    """What a new process could get: the kernel's estimate, or what is left of this control group's limit."""
    return min([_kernel_estimate(), *_group_rest()])


def _kernel_estimate() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _group_rest() -> list[int]:
    rests = []
    for root, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            rests.append(int(Path(root, limit).read_text()) - int(Path(root, used).read_text()))
        except (OSError, ValueError):  # no such controller, or its limit is the word max
            continue
    return rests
