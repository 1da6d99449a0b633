"""Work that can wait lets the browser go first: a page must not feel that it is recorded."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

STEPS_BACK = 10
LOWEST = 19


def stand_back(task: int | None = None) -> None:
    """Lower the priority of a process, or of a single thread: this one where none is named."""
    with suppress(OSError):  # it may have ended already
        lower = min(LOWEST, os.getpriority(os.PRIO_PROCESS, 0) + STEPS_BACK)
        os.setpriority(os.PRIO_PROCESS, task or threading.get_native_id(), lower)
