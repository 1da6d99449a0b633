"""Every harness at what goes wrong with models, tools and processes; what is not installed is skipped."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import MissingPartError
from clawbench.harnesses import get_harness, harness_names, installed_hash, playwright_mcp
from clawbench.harnesses.program import Setting
from clawbench.results import Cause, FinishReason, StopReason, Verdict
from clawbench.runner.checking import Status, check_harness
from clawbench.sandbox import proctree

from .live import Made, busy, kill_program, perform, rehearsed, with_playwright, work

pytestmark = pytest.mark.harnesses
ROOT = Path(__file__).parent.parent.parent
EVERY = pytest.mark.parametrize(("name", "kind"), rehearsed("coding", "web"))
FAILS = {"rules": [{"fault": {"status": 500}}]}


def installed(name: str) -> Any:
    harness = get_harness(name)
    try:
        installed_hash(harness)
    except MissingPartError as error:
        pytest.skip(str(error))
    return harness


def is_installed(harness: Any) -> bool:
    try:
        installed_hash(harness)
    except MissingPartError:
        return False
    return True


def passed(made: Made) -> bool:
    return made.record.verdict in (Verdict.RESOLVED, Verdict.PASS)


@pytest.mark.parametrize("kind", ["coding", "web"])
@pytest.mark.parametrize("name", harness_names())
def test_the_check_finds_nothing_wrong(name: str, kind: str, tmp_path: Path) -> None:
    if kind not in installed(name).kinds:
        pytest.skip(f"{name} does no {kind} tasks")
    found = asyncio.run(check_harness(lambda: get_harness(name), tmp_path, kinds=(kind,))).kinds[kind]
    assert found.status is Status.OK, found.reason


@EVERY
def test_told_to_come_later_twice_it_comes_again(name: str, kind: str, tmp_path: Path) -> None:
    harness = installed(name)
    later = [{"call": call, "status": 429, "retry_after": 1} for call in (1, 2)]
    made = asyncio.run(perform(harness, kind, {**work(harness, kind), "faults": later}, tmp_path))
    assert made.record.usage.measured.errors == 2
    assert passed(made), made.record
    if kind == "coding":
        assert made.record.finish_reason is FinishReason.STOP


@pytest.mark.parametrize("name", with_playwright())
def test_browser_tools_that_take_their_time_are_waited_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the model is asked before it can do anything, as happens on a busy machine."""
    harness, at_once = installed(name), playwright_mcp.server_command

    def later(context: Any, runtime: Any) -> list[str]:
        command = at_once(context, runtime)
        at = next(index for index, word in enumerate(command) if word.endswith("/cli.js"))
        waiting = f"setTimeout(() => require({json.dumps(command[at])}), 6000)"
        return [*command[:at], "-e", waiting, "program", *command[at + 1 :]]

    monkeypatch.setattr(playwright_mcp, "server_command", later)
    made = asyncio.run(perform(harness, "web", work(harness, "web"), tmp_path))
    assert passed(made), made.record


@EVERY
def test_a_model_that_always_fails_is_unreachable(name: str, kind: str, tmp_path: Path) -> None:
    made = asyncio.run(perform(installed(name), kind, FAILS, tmp_path))
    assert made.record.stop_reason is StopReason.MODEL_UNREACHABLE, made.record
    assert made.record.cause is Cause.MODEL
    assert not passed(made)
    assert made.record.finish_reason is (FinishReason.ERROR if kind == "coding" else None)
    assert made.left == []


@EVERY
def test_a_model_that_never_stops_meets_the_turn_limit(name: str, kind: str, tmp_path: Path) -> None:
    harness = installed(name)
    if Setting.TURNS not in harness.settings:
        pytest.skip(f"{name} has no turn limit")
    made = asyncio.run(perform(harness, kind, busy(harness, kind), tmp_path, max_turns=4))
    assert made.record.stop_reason is StopReason.AGENT_EXITED, made.record
    assert made.record.finish_reason is (FinishReason.TIMEOUT if kind == "coding" else None)
    assert made.record.usage.measured.turns <= 7, "some ask once more for a summary"
    assert not passed(made)


@EVERY
def test_a_model_that_never_stops_meets_the_time_limit(name: str, kind: str, tmp_path: Path) -> None:
    harness = installed(name)
    unhurried = busy(harness, kind, delay_s=4)
    made = asyncio.run(perform(harness, kind, unhurried, tmp_path, time_limit_s=15))
    assert made.record.stop_reason is StopReason.TIME_LIMIT, made.record
    assert made.record.finish_reason is (FinishReason.TIMEOUT if kind == "coding" else None)
    assert not passed(made)
    assert made.left == []


@EVERY
def test_a_program_that_is_killed_has_failed(name: str, kind: str, tmp_path: Path) -> None:
    harness, killed = installed(name), []

    def kill_in_the_middle(_host: Any, progress: Any, watched: Any) -> None:
        if not killed and progress.metered.turns >= 2:
            killed.append(kill_program(watched))

    made = asyncio.run(perform(harness, kind, busy(harness, kind), tmp_path, kill_in_the_middle))
    assert killed
    assert made.record.stop_reason is StopReason.AGENT_EXITED, made.record
    assert made.record.finish_reason is (FinishReason.ERROR if kind == "coding" else None)
    assert not passed(made)
    assert made.left == []


@EVERY
def test_nothing_is_left_when_clawbench_is_killed(name: str, kind: str, tmp_path: Path) -> None:
    installed(name)
    command = [sys.executable, "-m", "tests.harnesses.live", name, kind, str(tmp_path)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": "/tmp"}
    )
    try:
        assert wait_for(lambda: calls_in(tmp_path) >= 2 or process.poll() is not None, 120)
        everything = proctree.descendants(process.pid)
    finally:
        process.kill()
        assert process.wait(timeout=30) == -9
    assert wait_for(lambda: not still_there(everything), 10), still_there(everything)
    assert wait_for(lambda: record_in(tmp_path).get("error") is not None, 10)
    record = record_in(tmp_path)
    assert record["stop_reason"] == "error"
    assert record["verdict"] == ("error" if kind == "coding" else "unjudged")
    assert record["cause"] == "infrastructure"


def calls_in(directory: Path) -> int:
    files = list(directory.glob("runs/b/check/*/*/1/data/llm-calls.jsonl"))
    return files[0].read_bytes().count(b"\n") if files else 0


def record_in(directory: Path) -> dict[str, Any]:
    (file,) = directory.glob("runs/b/check/*/*/1/run.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def still_there(processes: list[proctree.Entry]) -> list[proctree.Entry]:
    now = {entry.pid: entry for entry in proctree.entries(entry.pid for entry in processes)}
    return [one for one in processes if one.pid in now and now[one.pid].started == one.started]


def wait_for(condition: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_all_coding_harnesses_are_told_the_same(tmp_path: Path) -> None:
    """Byte for byte, for the same repository; each run is cancelled once its agent has begun."""
    prompts: dict[str, bytes] = {}

    def cancel(host: Any, progress: Any, _watched: Any) -> None:
        if progress.phase == "running":
            host.cancelled.set()

    for name in harness_names():
        harness = get_harness(name)
        if "coding" in harness.kinds and is_installed(harness):
            (tmp_path / name).mkdir()
            made = asyncio.run(perform(harness, "coding", FAILS, tmp_path / name, cancel))
            prompts[name] = made.directory.prompt.read_bytes()
    assert {"null", "reference"} <= set(prompts)
    assert len(set(prompts.values())) == 1, {name: len(text) for name, text in prompts.items()}
