"""bwrap, or Clawbench, is killed while bwrap's first child waits for its user map: the child goes as well.

Run as a program it is the Clawbench that is killed: `python -m tests.sandbox.test_killed_starts HOME`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import SandboxError
from clawbench.sandbox import Command, Guardian, bubblewrap, open_sandbox, proctree
from tests.sandbox.conftest import needs_bwrap
from tests.sandbox.test_guardian import wait_for

ROOT = Path(__file__).parent.parent.parent
ATTEMPTS = 50
Held = Callable[[subprocess.Popen[bytes], int], None]


async def start_and_hold(directory: Path, then: Held, guardian: Guardian | None = None) -> None:
    """Start sandboxes, hold bwrap as soon as it has a child, and where that waits do `then` with both."""
    spawn = bubblewrap.BubblewrapSandbox._spawn

    def spawn_and_hold(*arguments: Any) -> subprocess.Popen[bytes]:
        direct = spawn(*arguments)
        child = first_child(direct)
        direct.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, direct.pid, os.WSTOPPED | os.WNOWAIT)
        if waits(child):
            then(direct, child)
        else:
            direct.send_signal(signal.SIGCONT)
        return direct

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bubblewrap.BubblewrapSandbox, "_spawn", spawn_and_hold)
        for number in range(ATTEMPTS):
            (directory / str(number)).mkdir(parents=True)
            sandbox = open_sandbox("bwrap", home=directory / str(number), guardian=guardian)
            try:
                await sandbox.start(Command(argv=["sleep", "60"]))
            finally:
                await sandbox.close()
    raise AssertionError("bwrap was always faster")


def first_child(direct: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{direct.pid}/task/{direct.pid}/children")
    while not (found := children.read_text().split()):
        assert direct.poll() is None
    return int(found[0])


def waits(child: int) -> bool:
    """bwrap tells its child to go on by one of two counters that they share."""
    if [entry.state for entry in proctree.entries([child])] != ["S"]:
        return False
    counts = [file.read_text() for file in Path(f"/proc/{child}/fdinfo").iterdir()]
    counts = [text.split("eventfd-count:")[1].split()[0] for text in counts if "eventfd-count:" in text]
    return counts == ["0", "0"]


@pytest.mark.anyio
async def test_the_waiting_child_of_a_killed_bwrap_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_bwrap("bwrap")
    monkeypatch.setattr(bubblewrap, "START_TIMEOUT_S", 2)
    children = []

    def kill(direct: subprocess.Popen[bytes], child: int) -> None:
        children.append(child)
        direct.kill()

    with pytest.raises(SandboxError, match="did not start"):
        await start_and_hold(tmp_path, kill)
    (child,) = children
    wait_for(lambda: not proctree.entries([child]), 5)


def test_the_waiting_child_goes_when_clawbench_is_killed(tmp_path: Path) -> None:
    needs_bwrap("bwrap")
    command = [sys.executable, "-m", "tests.sandbox.test_killed_starts", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert proctree.entries([child])
        process.kill()
    wait_for(lambda: not proctree.entries([child]), 5)


def main(directory: Path) -> None:
    guardian = Guardian.start()

    def tell(direct: subprocess.Popen[bytes], child: int) -> None:
        guardian.watch_process(direct.pid)
        print(child, flush=True)

    asyncio.run(start_and_hold(directory, tell, guardian))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
