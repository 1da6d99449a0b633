"""`end` ends everything, also what left the session, the process group and the parent."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from clawbench.sandbox import Command, Limits
from clawbench.sandbox.cgroup import Cgroup
from clawbench.sandbox.interpreter import base_interpreter

pytestmark = pytest.mark.anyio
PYTHON = str(base_interpreter())

DAEMONS = """
import os, signal, subprocess, sys, time
mark = sys.argv[1]
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
sleeper = [sys.executable, "-c", "import time; time.sleep(60)", mark]
def daemon(environment):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, sleeper, environment)
        os._exit(0)
    os.wait()
daemon(dict(os.environ))
daemon({})
subprocess.Popen(sleeper, start_new_session=True)
print("ready", flush=True)
if len(sys.argv) < 3:
    time.sleep(60)
"""


def alive(mark: str) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path("/proc", name, "cmdline").read_text().split("\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


async def started(sandbox: Any, out: Path, mark: str, *more: str) -> Any:
    command = Command([PYTHON, "-c", DAEMONS, mark, *more], stdout=out, limits=Limits(time_s=60))
    process = await sandbox.start(command)
    for _ in range(1000):
        if out.read_text():
            return process
        await asyncio.sleep(0.01)
    raise AssertionError("the daemons did not start")


@pytest.fixture(params=["cgroup", "no cgroup"])
def maybe_cgroup(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "no cgroup":
        monkeypatch.setattr(Cgroup, "open", lambda *_: None)


@pytest.mark.usefixtures("maybe_cgroup")
async def test_end_takes_daemons_along(opener: Any, provider: str, tmp_path: Path, until: Any) -> None:
    mark = uuid.uuid4().hex
    sandbox = opener(provider)
    process = await started(sandbox, tmp_path / "out", mark)
    await until(lambda: len(alive(mark)) == 4)  # while one is becoming another program it has no mark
    begin = time.monotonic()
    ended = await process.end()
    assert time.monotonic() - begin < 3
    assert alive(mark) == []
    assert (ended.exit_code, ended.limit) == (-9, None)
    assert await process.end() == ended
    await sandbox.close()


@pytest.mark.usefixtures("maybe_cgroup")
async def test_daemons_end_with_the_program(opener: Any, provider: str, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    sandbox = opener(provider)
    process = await started(sandbox, tmp_path / "out", mark, "then exit")
    ended = await asyncio.wait_for(process.wait(), 5)
    assert ended.exit_code == 0
    assert alive(mark) == []
    await sandbox.close()


async def test_close_ends_what_runs(opener: Any, provider: str, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    sandbox = opener(provider)
    await started(sandbox, tmp_path / "out", mark)
    await started(sandbox, tmp_path / "out2", mark)
    await sandbox.close()
    assert alive(mark) == []
    assert not sandbox.home.exists()


async def test_program_that_kills_or_stops_its_supervisor(opener: Any, tmp_path: Path, until: Any) -> None:
    """Only `none` lets a program see its supervisor; it must not get away by that."""
    for signal_name in ("KILL", "STOP"):
        mark = uuid.uuid4().hex
        sandbox = opener("none")
        out = tmp_path / f"out-{signal_name}"
        script = f'setsid sh -c "sleep 60; :" {mark} & echo ready; kill -{signal_name} $PPID; sleep 60'
        process = await sandbox.start(Command(["sh", "-c", script], stdout=out))
        await until(out.read_text)
        begin = time.monotonic()
        await process.end()
        assert time.monotonic() - begin < 4
        assert alive(mark) == []
        await sandbox.close()


async def test_wait_by_several_and_cancelled_waits(opener: Any, provider: str) -> None:
    sandbox = opener(provider)
    process = await sandbox.start(Command(["sleep", "60"]))
    waits = [asyncio.create_task(process.wait()) for _ in range(3)]
    await asyncio.sleep(0.01)
    waits[0].cancel()
    await asyncio.gather(waits[0], return_exceptions=True)
    ended = await process.end()
    assert await asyncio.gather(*waits[1:]) == [ended, ended]
    await sandbox.close()


def test_event_loop_that_closes_too_early_still_ends_all(opener: Any, provider: str, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex

    async def forgetful() -> None:
        await started(opener(provider), tmp_path / "out", mark)

    asyncio.run(forgetful())
    assert alive(mark) == []
