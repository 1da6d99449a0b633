"""An IPC namespace of a process's own, in which the sandboxes it starts may share memory with each other."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

CLONE_NEWIPC, CLONE_NEWUSER = 0x08000000, 0x10000000


def enter_own_ipc() -> bool:
    """Leave the host's shared memory for one of our own; False where the kernel does not let us.

    To be called before the process has a second thread. What was in that memory ends with its last process.
    """
    if _unshare(CLONE_NEWIPC):
        return True
    user, group = os.geteuid(), os.getegid()
    if not _unshare(CLONE_NEWUSER | CLONE_NEWIPC):
        return False
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def _unshare(flags: int) -> bool:
    return bool(ctypes.CDLL(None).unshare(flags) == 0)
