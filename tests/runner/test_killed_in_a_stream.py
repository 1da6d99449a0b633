"""Killed in the middle of an answer: calls, tokens and cost are on record, and the record can be replayed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.results import read_llm_calls
from tests.runner.test_leftovers import descendants

PLUGIN = Path(__file__).parent / "plugin"
TASK = "demo/001-coding-bugfix-strata"
POLICY = """
price: {input: 1000, output: 1000}
rules:
  - {when: {turn: 0}, text: "The first answer comes at once."}
  - {when: {turn: 1}, text: "This one takes its time. It goes on and on and on and on and on.", fault: {%s}}
  - text: "The last one."
"""


class Machine:
    """Clawbench as a user starts it, with the streaming harness installed."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.slow, self.fast = base / "slow.yaml", base / "fast.yaml"
        self.slow.write_text(POLICY % "pace_s: 0.4")
        self.fast.write_text(POLICY % "delay_s: 0.01")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(PLUGIN), "CLAWBENCH_CACHE": str(self.base / "cache")}
        return subprocess.Popen(
            [sys.executable, "-m", "clawbench", *arguments, "--output", str(self.base / "runs")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        process = self.start(*arguments, "--json")
        shown, complaints = process.communicate(timeout=120)
        assert shown, complaints
        return process.returncode, json.loads(shown)

    def run_until_in_the_stream(self) -> tuple[subprocess.Popen[str], Path]:
        """A run whose second answer has begun to arrive."""
        process = self.start(
            "run", TASK, "--harness", "streamer", "--model", f"scripted:{self.slow}", "--batch", "b"
        )

        def streaming() -> bool:
            files = list(self.base.glob("runs/b/demo/*/*/1/data/llm-calls.open/call-00002"))
            return bool(files) and files[0].read_bytes().count(b"data: {") >= 2

        wait_for(streaming, process)
        (run,) = self.base.glob("runs/b/demo/*/*/1")
        return process, run


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def check_account(run: Path) -> dict[str, Any]:
    """Both calls are written down and counted; the second as far as it came."""
    first, second = read_llm_calls(run / "data/llm-calls.jsonl")
    assert (first["aborted"], second["aborted"], second["usage_estimated"]) == (False, True, True)
    assert '"content": "This one takes its time' in second["response"]
    assert "and on." not in second["response"]
    assert second["usage"]["input"] > 0
    assert 0 < second["usage"]["output"] < 20
    record: dict[str, Any] = json.loads((run / "run.json").read_text())
    measured = record["usage"]["measured"]
    assert (measured["calls"], measured["turns"]) == (2, 1)
    for bucket in ("input", "output"):
        assert measured["usage"][bucket] == first["usage"][bucket] + second["usage"][bucket]
    assert record["cost_usd"] == pytest.approx(first["cost_usd"] + second["cost_usd"])
    assert second["cost_usd"] == pytest.approx(
        (second["usage"]["input"] + second["usage"]["cache_read"] + second["usage"]["output"]) / 1000
    )
    assert not (run / "data/llm-calls.open").exists()
    return record


def kill_harness(machine: Machine) -> Path:
    process, run = machine.run_until_in_the_stream()
    agents = [pid for pid, _ in descendants(process.pid) if is_agent(pid)]
    assert agents
    for pid in agents:
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    return run


def test_the_harness_is_killed(machine: Machine) -> None:
    assert check_account(kill_harness(machine))["stop_reason"] == "agent_exited"


@pytest.mark.faults
def test_the_record_of_a_killed_harness_is_replayed_up_to_there(machine: Machine) -> None:
    code, again = machine.finish("replay", str(kill_harness(machine)))
    assert (code, again["replay"]["outcome"], again["replay"]["replayed_calls"]) == (1, "record_ended", 2)
    assert "The record ends here: call-00002 was broken off by harness" in again["stop_description"]


@pytest.mark.faults
def test_clawbench_itself_is_killed(machine: Machine) -> None:
    process, run = machine.run_until_in_the_stream()
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: json.loads((run / "run.json").read_text())["error"] is not None)
    record = check_account(run)
    told = (record["state"], record["stop_reason"], record["cause"])
    assert told == ("running", "error", "infrastructure")
    assert "killed" in record["error"]
    assert not (run / ".reserve").exists()
    flags = ("--replay-then-live", "--model", f"scripted:{machine.fast}")
    code, again = machine.finish("replay", str(run), *flags)
    assert code == 0
    replay = again["replay"]
    assert (replay["outcome"], replay["live_from"]) == ("record_ended", "call-00002")
    assert (replay["replayed_calls"], replay["live_calls"], replay["divergence"]) == (1, 2, None)
    assert again["usage"]["measured"]["turns"] == 3
    assert again["cost_usd"] > 0


def is_agent(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"/opt/streamer" in command and b"--" not in command and not command[0].endswith(b"bwrap")
