"""After a run nothing is left, also when the runner is killed in the middle of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

POLICY = """
description: Opens a page, then waits
price: {input: 1, output: 1}
rules:
  - when: {turn: 0, tools: [browser_open]}
    calls: [{tool: browser_open, arguments: {url: "http://teahouse.example/"}}]
  - when: {tools: [browser_wait]}
    calls: [{tool: browser_wait, arguments: {seconds: 30}}]
  - when: {tools: [shell]}
    calls: [{tool: shell, arguments: {command: "setsid -f sleep 600; sleep 600"}}]
"""


def descendants(root: int) -> set[tuple[int, str]]:
    """(pid, start time) of every process below `root`."""
    parents: dict[int, tuple[int, str]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = (int(fields[1]), fields[19])
    found: set[tuple[int, str]] = set()
    wanted = {root}
    while wanted:
        wanted = {pid for pid, (parent, _) in parents.items() if parent in wanted}
        found |= {(pid, parents[pid][1]) for pid in wanted}
    return found


def alive(processes: set[tuple[int, str]]) -> list[str]:
    left = []
    for pid, started in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if fields[19] == started and fields[0] != "Z":
                left.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[:200])
        except OSError:
            continue
    return left


def start(kind: str, tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    scratch = tmp_path / "t"
    scratch.mkdir()
    listed = subprocess.run(
        [sys.executable, "-m", "clawbench", "tasks", "list", "--suite", "demo", "--json"],
        capture_output=True,
        check=True,
    )
    task = next(row["id"] for row in json.loads(listed.stdout) if row["kind"] == kind)
    command = [sys.executable, "-m", "clawbench", "run", task, "--model", f"scripted:{policy}"]
    process = subprocess.Popen(
        [*command, "--output", str(tmp_path / "runs"), "--batch", "b"],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return process, scratch


def wait_for(condition: object, seconds: float) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def in_the_middle(kind: str, tmp_path: Path) -> bool:
    """The agent has made its second call: it is now waiting in its browser or its shell."""
    calls = list(tmp_path.glob("runs/b/demo/*/*/1/data/llm-calls.jsonl"))
    wanted = 2 if kind == "web" else 1
    return bool(calls) and calls[0].read_bytes().count(b"\n") >= wanted


def cgroups() -> set[Path]:
    return {path for path in Path("/sys/fs/cgroup").glob("**/*clawbench*") if path.is_dir()}


@pytest.mark.parametrize("kind", ["web", "coding"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_runner_is_ended(kind: str, number: signal.Signals, tmp_path: Path) -> None:
    process, scratch = start(kind, tmp_path)
    try:
        assert wait_for(lambda: in_the_middle(kind, tmp_path), 60), process.poll()
        everything = descendants(process.pid)
        assert len(everything) >= (8 if kind == "web" else 4), "the run should be in full swing"
    finally:
        process.send_signal(number)
        process.wait(timeout=30)
        assert process.stderr is not None
        process.stderr.close()
    gone = wait_for(lambda: not alive(everything) and not any(scratch.iterdir()), 3)
    assert gone, (alive(everything), list(scratch.iterdir()))
    (file,) = tmp_path.glob("runs/b/demo/*/*/1/run.json")
    if number is signal.SIGTERM:
        assert process.returncode == 130
        assert json.loads(file.read_text())["stop_reason"] == "cancelled"
    elif kind == "web":
        assert wait_for(lambda: json.loads(file.read_text())["error"], 10)
        record = json.loads(file.read_text())
        began = datetime.fromisoformat(record["phases"]["preparing"]).timestamp()
        assert began < record["video_started_at"] < time.time(), "without it the video has no clock"
        assert record["requests"] == (file.parent / "data" / "requests.jsonl").read_bytes().count(b"\n")
