"""Each limit really trips, by control group and by watching, and is named."""

from __future__ import annotations

import asyncio
import glob
import os
import time
from pathlib import Path
from typing import Any

import pytest

from clawbench.sandbox import Command, Limits, proctree
from clawbench.sandbox.cgroup import Cgroup, find_parents
from clawbench.sandbox.interpreter import base_interpreter

pytestmark = pytest.mark.anyio
PYTHON = str(base_interpreter())

HOG = """
import time
kept = []
while len(kept) < 40:
    kept.append(b"x" * (10 << 20))
    time.sleep(0.02)
print("survived")
"""
HOG_IN_CHILDREN = f"""
import subprocess, sys
children = [subprocess.Popen([sys.executable, "-c", {HOG!r}]) for _ in range(2)]
print([child.wait() for child in children])
import time
time.sleep(20)
"""
HOG_IN_FILES = """
import time
with open("/tmp/big", "wb") as file:
    for _ in range(40):
        file.write(b"x" * (10 << 20))
        time.sleep(0.02)
print("survived")
"""
FORKS = """
import subprocess, time
kept = []
for _ in range(60):
    try:
        kept.append(subprocess.Popen(["sleep", "20"]))
    except BlockingIOError:
        break
time.sleep(20)
"""


@pytest.fixture(params=["cgroup", "watcher"])
def mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "watcher":
        monkeypatch.setattr(Cgroup, "open", lambda *_: None)
    else:
        group = Cgroup.open(Limits())
        if group is None:
            pytest.skip("control groups are not writable here")
        group.remove()
    return str(request.param)


async def test_memory(run_inside: Any, provider: str, mechanism: str) -> None:
    limits = Limits(memory_mb=150, time_s=20)
    ended, output = await run_inside(PYTHON, "-c", HOG, provider=provider, limits=limits)
    assert (ended.exit_code, ended.limit) == (-9, "memory")
    assert "survived" not in output
    assert _groups_left() == []


async def test_memory_of_all_processes_counts_together(
    run_inside: Any, provider: str, mechanism: str
) -> None:
    limits = Limits(memory_mb=500, time_s=20)
    started = time.monotonic()
    ended, _ = await run_inside(PYTHON, "-c", HOG_IN_CHILDREN, provider=provider, limits=limits)
    assert ended.limit == "memory"
    assert time.monotonic() - started < 10


async def test_memory_file_systems_count_as_memory(run_inside: Any, mechanism: str) -> None:
    limits = Limits(memory_mb=150, time_s=20)
    ended, output = await run_inside(PYTHON, "-c", HOG_IN_FILES, limits=limits)
    assert "survived" not in output
    assert ended.limit == "memory" or "No space left" in output


async def test_enough_memory_is_left_alone(run_inside: Any, provider: str, mechanism: str) -> None:
    ended, output = await run_inside(PYTHON, "-c", HOG, provider=provider, limits=Limits(memory_mb=600))
    assert (ended.exit_code, ended.limit, output.strip()) == (0, None, "survived")


async def test_processes(run_inside: Any, provider: str, mechanism: str) -> None:
    limits = Limits(processes=30, time_s=20)
    started = time.monotonic()
    ended, _ = await run_inside(PYTHON, "-c", FORKS, provider=provider, limits=limits)
    assert (ended.exit_code, ended.limit) == (-9, "processes")
    assert time.monotonic() - started < 10
    assert _groups_left() == []


async def test_time(run_inside: Any, provider: str, mechanism: str) -> None:
    started = time.monotonic()
    ended, _ = await run_inside("sleep", "30", provider=provider, limits=Limits(time_s=0.3))
    assert (ended.exit_code, ended.limit) == (-9, "time")
    assert time.monotonic() - started < 3


async def test_file_size_bounds_files_and_output(run_inside: Any, provider: str) -> None:
    limits = Limits(file_mb=1, time_s=20)
    ended, output = await run_inside(
        "dd", "if=/dev/zero", "of=big", "bs=64k", "count=64", provider=provider, limits=limits
    )
    assert (ended.exit_code, ended.limit) == (-25, "file")
    ended, output = await run_inside("yes", provider=provider, limits=limits)
    assert (ended.exit_code, ended.limit, len(output)) == (-9, "file", 1 << 20)


async def test_no_limits_at_all(run_inside: Any, provider: str) -> None:
    limits = Limits(memory_mb=None, processes=None, file_mb=None, time_s=None)
    ended, _ = await run_inside("true", provider=provider, limits=limits)
    assert (ended.exit_code, ended.limit) == (0, None)


async def test_watcher_ends_with_its_tree(opener: Any, mechanism: str) -> None:
    sandbox = opener()
    process = await sandbox.start(Command(["sleep", "30"]))
    await process.end()
    await asyncio.sleep(0)
    names = [task.get_coro().__qualname__ for task in asyncio.all_tasks() if not task.done()]
    assert not any("Watch" in name for name in names)
    await sandbox.close()


def test_version_2_groups_are_made_where_the_controllers_are(tmp_path: Path) -> None:
    """The nearest ancestor that gives its children both controllers, as on a machine with systemd."""
    mount, proc = tmp_path / "cgroup", tmp_path / "proc"
    own = mount / "user.slice" / "app.slice" / "some.scope"
    own.mkdir(parents=True)
    proc.mkdir()
    (proc / "mountinfo").write_text(f"30 23 0:26 / {mount} rw,nosuid - cgroup2 cgroup2 rw\n")
    (proc / "cgroup").write_text("0::/user.slice/app.slice/some.scope\n")
    for directory, controllers in ((own, ""), (own.parent, "memory pids"), (mount, "cpu memory pids")):
        (directory / "cgroup.subtree_control").write_text(controllers)
    parents = find_parents(proc)
    assert parents is not None
    assert (parents.memory, parents.pids, parents.version) == (own.parent, own.parent, 2)


def test_without_control_groups_there_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text("23 1 0:21 / /proc rw - proc proc rw\n")
    (tmp_path / "cgroup").write_text("0::/\n")
    assert find_parents(tmp_path) is None


def _groups_left() -> list[str]:
    return [path for path in glob.glob("/sys/fs/cgroup/**/clawbench-*", recursive=True) if _ours(path)]


def _ours(path: str) -> bool:
    return Path(path).name.startswith(f"clawbench-{os.getpid()}-")


def test_own_entry_is_read() -> None:
    entry = proctree.read_entry(os.getpid())
    assert entry is not None
    assert (entry.pid, entry.parent) == (os.getpid(), os.getppid())
