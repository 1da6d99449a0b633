"""The demo's runs again from their records, as a user replays them, without any network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clawbench.results import RunDirectory, RunRecord, first_action_apart, read_json_lines
from clawbench.tasks import BUNDLED

CODING = "001-coding-bugfix-strata"


def no_network() -> list[str]:
    """A prefix that leaves a command without any network; not even the loopback is up."""
    for prefix in (["unshare", "-n"], ["unshare", "-rn"]):
        try:
            if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
                return prefix
        except FileNotFoundError:
            break
    pytest.skip("unshare (util-linux) cannot make a network namespace here")


def clawbench(base: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> tuple[int, dict[str, Any], str]:
    """Exit code, record and messages of a command."""
    finished = subprocess.run(
        [*prefix, sys.executable, "-m", "clawbench", *arguments, "--output", str(base / "runs"), "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "CLAWBENCH_CACHE": str(base / "cache")},
        timeout=200,
        check=False,
    )
    assert finished.stdout, finished.stderr
    return finished.returncode, json.loads(finished.stdout), finished.stderr


def offline(base: Path, run: str, *more: str) -> tuple[int, dict[str, Any], str]:
    return clawbench(base, "replay", run, *more, prefix=tuple(no_network()))


def test_a_web_run_to_the_same_verdict_by_the_same_actions(
    tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    recorded = records[0]
    original = RunDirectory(Path(recorded["directory"]))
    before = {path: path.read_bytes() for path in original.path.rglob("*.json*")}
    code, record, said = offline(tmp_path, recorded["directory"])
    assert (code, record["verdict"], record["stop_reason"]) == (0, "pass", "intercepted"), said
    assert "no model is asked" in said
    again = RunDirectory(Path(record["directory"]))
    assert first_action_apart(original, again) is None
    assert sum(1 for _ in read_json_lines(again.actions)) > 400
    one, other = (json.loads(run.interception.read_text())["request"] for run in (original, again))
    assert one["body"] == other["body"], "the same person, too"
    replay = record["replay"]
    assert (replay["of"], replay["outcome"]) == (recorded["run_id"], "same")
    assert (replay["first_action_apart"], replay["recorded_verdict"]) == (None, "pass")
    assert replay["replayed_calls"] == recorded["usage"]["measured"]["calls"]
    assert record["usage"]["measured"]["usage"] == recorded["usage"]["measured"]["usage"]
    assert (record["cost_usd"], recorded["cost_usd"] > 0) == (0.0, True)
    assert record["usage"]["measured"]["replayed_cost_usd"] == pytest.approx(recorded["cost_usd"])
    assert {path: path.read_bytes() for path in original.path.rglob("*.json*")} == before
    RunRecord.model_validate_json(again.record.read_bytes())


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """The demo's coding task where a user may change it."""
    return Path(shutil.copytree(BUNDLED / "demo" / CODING, tmp_path / "demo" / CODING))


def change_prompt(task: Path) -> None:
    file = task / "task.json"
    fields = json.loads(file.read_text())
    statement = fields["problem_statement"].replace("override", "overlay")
    file.write_text(json.dumps({**fields, "problem_statement": statement}))


def test_a_coding_run_and_what_a_changed_prompt_does(
    tmp_path: Path, task: Path, records: list[dict[str, Any]]
) -> None:
    run = records[2]["directory"]
    code, record, said = offline(tmp_path, run)
    assert (code, record["verdict"], record["replay"]["same_patch"]) == (0, "resolved", True), said

    change_prompt(task)
    code, record, said = offline(tmp_path, run, "--task", str(task))
    assert (code, record["stop_reason"], record["verdict"], record["cause"]) == (1, "error", "error", "none")
    assert f"The task demo/{CODING} has changed since it was recorded." in said
    divergence = record["replay"]["divergence"]
    assert (divergence["call"], divergence["part"]) == ("call-00001", "message 1 (user)")
    removed = [
        line for line in divergence["diff"].splitlines() if line.startswith("-") and "override" in line
    ]
    added = [line for line in divergence["diff"].splitlines() if line.startswith("+") and "overlay" in line]
    assert removed
    assert added
    assert record["replay"]["replayed_calls"] == 0


@pytest.mark.faults
def test_a_changed_prompt_answered_from_the_record_and_by_the_model(tmp_path: Path, task: Path) -> None:
    _, recorded, _ = clawbench(tmp_path, "run", str(task), "--model", "scripted:solve", "--max-calls", "50")
    run = recorded["directory"]
    change_prompt(task)
    code, record, _ = offline(tmp_path, run, "--go-on")
    assert record["options"] == recorded["options"]
    assert (code, record["verdict"], record["replay"]["outcome"]) == (0, "resolved", "diverged")
    code, record, _ = clawbench(
        tmp_path, "run", str(task), "--replay-then-live", run, "--model", "scripted:solve"
    )
    assert (code, record["verdict"], record["replay"]["live_from"]) == (0, "resolved", "call-00001")
