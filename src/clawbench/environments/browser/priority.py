"""Work that can wait lets the browser go first: a page must not feel that it is recorded."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

STEPS_BACK = 10
LOWEST = 19


def stand_back(task: int | None = None) -> None:
    """Lower the priority of a process, or of a single thread: this one where none is named."""
    with suppress(OSError):  # it may have ended already
        lower = min(LOWEST, os.getpriority(os.PRIO_PROCESS, 0) + STEPS_BACK)
        os.setpriority(os.PRIO_PROCESS, task or threading.get_native_id(), lower)


def stand_back_alone(leader: int) -> None:
    """The same for all of a process that leads a session: some kernels share time between sessions first."""
    with suppress(OSError):  # it has ended, or the kernel is another
        for thread in os.listdir(f"/proc/{leader}/task"):
            stand_back(int(thread))
        Path(f"/proc/{leader}/autogroup").write_text(str(STEPS_BACK), encoding="ascii")
