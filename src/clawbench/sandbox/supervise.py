"""The parent of a program that runs without namespaces: keeps its whole tree below itself and ends it.

Standard library only; started as `python -I -S -E <this> <launcher's socket> <control socket>`. Orphans
of the tree become its children (child subreaper). It ends the tree when the program has ended, or when the
trusted side closes the control socket or dies, and then says there how the program ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import struct
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawbench.sandbox import inside, proctree
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import inside
    import proctree

PR_SET_CHILD_SUBREAPER = 36
WITHIN_S = 2.5
STATUS = struct.Struct("i")


def start_program(launcher: int, control: int) -> int:
    child = os.fork()
    if child == 0:
        os.close(control)
        os.setsid()
        inside.run(socket.socket(fileno=launcher))
    os.close(launcher)
    return child


def reap(program: int) -> int | None:
    """Collect all ended children; the program's status if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, found = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                status = os.waitstatus_to_exitcode(found)
    return status


def await_end(program: int, control: int, child_ended: int) -> int | None:
    """The program's exit code, or None where the trusted side wants the end."""
    while True:
        ready, _, _ = select.select([control, child_ended], [], [])
        if child_ended in ready:
            os.read(child_ended, 4096)
            status = reap(program)
            if status is not None:
                return status
        if control in ready:
            return None


def main() -> None:
    launcher, control = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(control, False)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child_ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    program = start_program(launcher, control)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # not before: the program would inherit it
        signal.signal(number, signal.SIG_IGN)
    status = await_end(program, control, child_ended)
    own = os.getpid()
    proctree.kill_until_gone(lambda: proctree.descendants(own), time.monotonic() + WITHIN_S)
    if status is None:
        status = reap(program)
    with contextlib.suppress(OSError):
        os.write(control, STATUS.pack(-signal.SIGKILL if status is None else status))


if __name__ == "__main__":
    main()
