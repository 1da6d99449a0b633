"""When the parent is killed, the guardian ends and removes everything it left; otherwise it does nothing."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import SandboxError
from clawbench.sandbox import Guardian, Limits, proctree
from clawbench.sandbox.cgroup import Cgroup

PARENT = """
import asyncio, os, signal, sys
from pathlib import Path
from clawbench.sandbox import Command, Guardian, open_sandbox
from clawbench.sandbox.cgroup import Cgroup
from clawbench.sandbox.interpreter import base_interpreter

DAEMONS = '''
import os, subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(60)", sys.argv[1]]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, sleeper)
    os._exit(0)
os.wait()
subprocess.Popen(sleeper, start_new_session=True)
print("ready", flush=True)
time.sleep(60)
'''

async def main(provider, home, out, mark, groups):
    if groups == "no":
        Cgroup.open = lambda *_: None
    if groups == "killed":
        Cgroup._set = lambda group, limits: os.kill(os.getpid(), signal.SIGKILL)
    guardian = Guardian.start()
    print(guardian.pid, flush=True)
    Path(home).mkdir()
    sandbox = open_sandbox(provider, home=Path(home), guardian=guardian)
    (sandbox.home / "profile").mkdir()
    scratch = Path(home + "-scratch")
    scratch.mkdir()
    guardian.watch_directory(scratch)
    command = Command([str(base_interpreter()), "-c", DAEMONS, mark], stdout=Path(out), stderr=Path(out))
    process = await sandbox.start(command)
    await process.wait()

asyncio.run(main(*sys.argv[1:]))
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


def wait_for(condition: Any, within_s: float) -> float:
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < within_s, "it did not happen in time"
        time.sleep(0.02)
    return time.monotonic() - begin


@pytest.mark.parametrize("groups", ["cgroup", "no"])
def test_parent_killed_in_the_middle(provider: str, groups: str, tmp_path: Path) -> None:
    mark, home, out = uuid.uuid4().hex, tmp_path / "home", tmp_path / "out"
    argv = [sys.executable, "-c", PARENT, provider, str(home), str(out), mark, groups]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        guardian = int(parent.stdout.readline())
        wait_for(lambda: out.exists() and out.read_text(), 10)
        inside = [pid for pid in alive(mark) if pid != parent.pid]
        assert len(inside) == 3
        parent.send_signal(signal.SIGKILL)
    left = [home, tmp_path / "home-scratch"]
    wait_for(lambda: not alive(mark) and not any(path.exists() for path in left), 3)
    wait_for(lambda: not proctree.entries([guardian]), 3)
    assert glob.glob(f"/sys/fs/cgroup/**/clawbench-{parent.pid}-*", recursive=True) == []


def test_killed_while_a_control_group_is_made(provider: str, tmp_path: Path) -> None:
    if (group := Cgroup.open(Limits())) is None:
        pytest.skip("no control group can be made here")
    group.remove()
    argv = [
        sys.executable,
        "-c",
        PARENT,
        provider,
        str(tmp_path / "home"),
        str(tmp_path / "out"),
        "",
        "killed",
    ]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        guardian = int(parent.stdout.readline())
        assert parent.wait(10) == -signal.SIGKILL
    wait_for(lambda: not proctree.entries([guardian]), 6)
    assert glob.glob(f"/sys/fs/cgroup/**/clawbench-{parent.pid}-*", recursive=True) == []


def test_watched_process_with_a_guardian_of_its_own(provider: str, tmp_path: Path) -> None:
    """As a browser session below a runner: the inner guardian must live to remove what only it knows."""
    mark, home, out = uuid.uuid4().hex, tmp_path / "home", tmp_path / "out"
    inner = [sys.executable, "-c", PARENT, provider, str(home), str(out), mark, "cgroup"]
    outer = f"""
import subprocess
from clawbench.sandbox import Guardian
guardian = Guardian.start()
child = subprocess.Popen({inner!r}, stdout=subprocess.DEVNULL)
guardian.watch_process(child.pid)
print(guardian.pid, child.pid, flush=True)
child.wait()
"""
    with subprocess.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        guardian, child = map(int, parent.stdout.readline().split())
        wait_for(lambda: out.exists() and out.read_text(), 10)
        guardians = [guardian, *(entry.pid for entry in proctree.descendants(child) if _guards(entry.pid))]
        assert len(guardians) == 2
        parent.send_signal(signal.SIGKILL)
    left = [home, tmp_path / "home-scratch"]
    wait_for(lambda: not alive(mark) and not any(path.exists() for path in left), 6)
    wait_for(lambda: not proctree.entries(guardians), 3)
    assert glob.glob(f"/sys/fs/cgroup/**/clawbench-{child}-*", recursive=True) == []


def _guards(pid: int) -> bool:
    return "guard.py" in Path(f"/proc/{pid}/cmdline").read_text()


def test_guardian_killed_too_still_ends_the_processes(provider: str, tmp_path: Path) -> None:
    mark, home, out = uuid.uuid4().hex, tmp_path / "home", tmp_path / "out"
    argv = [sys.executable, "-c", PARENT, provider, str(home), str(out), mark, "no"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        guardian = int(parent.stdout.readline())
        wait_for(lambda: out.exists() and out.read_text(), 10)
        os.kill(guardian, signal.SIGKILL)
        parent.send_signal(signal.SIGKILL)
    wait_for(lambda: not alive(mark), 3)


def test_close_leaves_things_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        guardian = Guardian.start()
        guardian.watch_process(sleeper.pid)
        guardian.watch_directory(kept)
        begin = time.monotonic()
        guardian.close()
        assert time.monotonic() - begin < 1
        assert kept.exists()
        assert sleeper.poll() is None
        sleeper.kill()


def test_what_was_forgotten_is_left_alone_and_signals_do_not_end_it(tmp_path: Path) -> None:
    kept, removed = tmp_path / "kept", tmp_path / "removed"
    kept.mkdir()
    (removed / "deep/er").mkdir(parents=True)
    (removed / "deep/er/file").write_text("x")
    (removed / "deep").chmod(0)
    source = f"""
import os, signal
from pathlib import Path
from clawbench.sandbox import Guardian
guardian = Guardian.start()
kept, removed = Path({str(kept)!r}), Path({str(removed)!r})
guardian.watch_directory(kept)
guardian.watch_directory(removed)
guardian.forget_directory(kept)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    os.kill(guardian.pid, number)
print(guardian.pid, flush=True)
os._exit(1)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    wait_for(lambda: not removed.exists() and not proctree.entries([int(done.stdout)]), 3)
    assert kept.exists()


def test_recycled_process_id_is_not_hit() -> None:
    """The start time is part of the identity: another process under a watched number lives on."""
    with subprocess.Popen(["sleep", "60"]) as bystander:
        source = f"""
import os
from clawbench.sandbox import Guardian
guardian = Guardian.start()
guardian._send("watch", "process", "{bystander.pid}", started=1)
print(guardian.pid, flush=True)
os._exit(0)
"""
        done = subprocess.run(
            [sys.executable, "-c", source], stdout=subprocess.PIPE, text=True, check=True, close_fds=True
        )
        wait_for(lambda: not proctree.entries([int(done.stdout)]), 3)
        assert bystander.poll() is None
        bystander.kill()


def test_it_holds_nothing_of_ours(tmp_path: Path) -> None:
    stray = os.open(tmp_path / "stray", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(stray, True)
    os.environ["SOME_API_KEY"] = "sk-planted"
    guardian = Guardian.start()
    try:
        held = {os.readlink(path) for path in glob.glob(f"/proc/{guardian.pid}/fd/*")}
        assert not any("stray" in name for name in held)
        assert b"sk-planted" not in Path(f"/proc/{guardian.pid}/environ").read_bytes()
        assert os.getsid(guardian.pid) == guardian.pid
        assert os.readlink(f"/proc/{guardian.pid}/cwd") == "/"
    finally:
        del os.environ["SOME_API_KEY"]
        guardian.close()
        os.close(stray)


def test_guardian_that_is_gone_is_an_error_for_new_things_only() -> None:
    guardian = Guardian.start()
    os.kill(guardian.pid, signal.SIGKILL)
    wait_for(lambda: Path(f"/proc/{guardian.pid}/stat").read_text().split()[2] == "Z", 3)
    guardian.forget_process(1)
    with pytest.raises(SandboxError, match="guardian process is gone"):
        guardian.watch_directory(Path("/nowhere"))
    guardian.close()
