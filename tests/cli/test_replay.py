"""What `replay` says about records it cannot use; nothing is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import clawbench

RECORD: dict[str, Any] = {
    "run_id": "0123456789ab",
    "kind": "coding",
    "suite": "demo",
    "task": {"name": "001-coding-bugfix-strata"},
    "harness": {"name": "reference"},
    "model": {"name": "m"},
    "model_settings": {"name": "m", "base_url": "http://m.invalid/", "api_type": "openai-completions"},
    "code_version": "0",
    "sandbox": "bwrap",
    "isolation": "full",
    "state": "done",
}


def made(tmp_path: Path, calls: str | None = "", **changes: Any) -> Path:
    run = tmp_path / "run"
    (run / "data").mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({**RECORD, **changes}))
    if calls is not None:
        (run / "data/llm-calls.jsonl").write_text(calls)
    return run


def refused(tmp_path: Path, *arguments: str) -> str:
    finished = clawbench("replay", *arguments, "--output", str(tmp_path / "runs"))
    assert finished.returncode == 2, finished.stderr
    assert "Traceback" not in finished.stderr
    assert not (tmp_path / "runs").exists()
    return " ".join(finished.stderr.split())


def test_no_run_there(tmp_path: Path) -> None:
    assert "run.json: cannot be read" in refused(tmp_path, str(tmp_path / "nothing"))
    assert "is not the directory of a run (no run is below it)" in refused(tmp_path, str(tmp_path))


def test_several_runs_below(tmp_path: Path) -> None:
    made(tmp_path / "1")
    made(tmp_path / "2")
    assert "(2 runs are below it). Name the directory of one run, such as" in refused(tmp_path, str(tmp_path))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"calls": None}, "llm-calls.jsonl: is missing"),
        ({"calls": "{\n{}\n"}, "llm-calls.jsonl: line 1 is not JSON"),
        ({"calls": '{"id": "call-00001", "path": "/x"}\n'}, "llm-calls.jsonl: line 1: `request` is missing"),
        ({"kind": None}, "run.json: kind:"),
        ({"harness": {"name": "human"}}, "was driven by a person"),
        ({"task": {"name": "gone"}}, "the task demo/gone is no longer known. Name it with --task"),
        ({"harness": {"name": "gone"}}, "no harness is called 'gone'"),
        ({"model_settings": {"name": "m"}}, "run.json: base_url: is missing"),
        ({"options": {"browser_elsewhere": True}, "kind": "coding"}, "--browser-cdp: is missing"),
    ],
)
def test_a_record_that_cannot_be_used(tmp_path: Path, fields: dict[str, Any], problem: str) -> None:
    assert problem in refused(tmp_path, str(made(tmp_path, **fields)))


def test_flags_that_do_not_go_together(tmp_path: Path) -> None:
    run = str(made(tmp_path))
    assert "--go-on: cannot go with --record-only" in refused(tmp_path, run, "--go-on", "--record-only")
    assert "--model: is not asked in a replay" in refused(tmp_path, run, "--model", "m")
    finished = clawbench("run", "demo/001-coding-bugfix-strata", "--replay-or-fail", run, "--model", "m")
    assert finished.returncode == 2
    assert "is not asked with --replay-or-fail" in finished.stderr


def test_what_changed_is_said_first(tmp_path: Path) -> None:
    run = made(tmp_path, task={"name": "001-coding-bugfix-strata", "content_hash": "0"}, sandbox="nowhere")
    said = refused(tmp_path, str(run))
    assert "0 recorded model calls; no model is asked." in said
    assert "The task demo/001-coding-bugfix-strata has changed since it was recorded." in said
    assert "Clawbench is version" in said
    assert "from before options were kept: the defaults are used." in said
