"""`clawbench eval` and `tasks list` by suite, as a user calls them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from clawbench.tasks import CodingTask, find_task
from tests.cli.command import clawbench

needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
TASK = "001-coding-bugfix-strata"


@needs_sandbox
def test_gold_empty_and_predictions_of_the_demo(tmp_path: Path) -> None:
    task = find_task(f"demo/{TASK}")
    assert isinstance(task, CodingTask)
    options = ("--json", "--output", str(tmp_path / "evals"))
    cache = {"CLAWBENCH_CACHE": str(tmp_path / "cache")}
    gold = clawbench("eval", "--suite", "demo", "--gold", *options, **cache)
    assert gold.returncode == 0, gold.stderr
    totals = json.loads(gold.stdout.splitlines()[-1])
    assert (totals["resolved"], totals["total"], totals["skipped"]) == (1, 1, 0)
    again = clawbench("eval", "--suite", "demo", "--gold", *options, **cache)
    assert json.loads(again.stdout.splitlines()[0])["reused"]
    file = tmp_path / "mine.jsonl"
    lines = [
        {"instance_id": TASK, "model_name_or_path": "none", "model_patch": None},
        {"instance_id": TASK, "model_name_or_path": "bad", "model_patch": "nonsense\n"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judged = clawbench("eval", str(file), *options, **cache)
    assert judged.returncode == 0, judged.stderr
    verdicts = {
        row["model_name_or_path"]: row["verdict"] for row in map(json.loads, judged.stdout.splitlines()[:-1])
    }
    assert verdicts == {"none": "unresolved", "bad": "apply_failed"}
    report = json.loads((tmp_path / "evals" / "mine" / "report.json").read_text())
    assert report["apply_failed"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("eval", "--suite", "demo"), ("PREDICTIONS", "--gold")),
        (("eval", "--suite", "none", "--gold"), ("--suite", "mini-swe")),
        (("eval", "--gold"), ("--suite", "missing")),
        (("eval", "--suite", "swe", "--gold"), ("--dataset",)),
        (("run", "--suite", "swe", "--model", "x"), ("--dataset", "SWE-bench")),
        (("run",), ("TASK", "--suite")),
        (("run", TASK, "--suite", "demo"), ("TASK",)),
        (("tasks", "list", "--language", "cobol"), ("--language", "Rust")),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = clawbench(*arguments)
    assert done.returncode == 2, done.stdout
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("/nonexistent.jsonl",), "/nonexistent.jsonl: cannot be read"),
        (("/nonexistent.jsonl", "--evaluator", "swebench", "--dataset", "x.jsonl"), "x.jsonl"),
        (("--suite", "demo", "--gold", "--mirror", "."), "--mirror: is for the rows of a dataset"),
        (("--suite", "demo", "--gold", "--sandbox", "jail"), "no sandbox called 'jail'"),
        (("--evaluator", "swebench", "--sandbox", "jail"), "--sandbox: has no meaning with --evaluator"),
        (("--evaluator", "swebench", "--mirror", "."), "--mirror: has no meaning with --evaluator swebench"),
    ],
)
def test_what_cannot_be_judged_leaves_nothing_behind(
    arguments: tuple[str, ...], word: str, tmp_path: Path
) -> None:
    done = clawbench("eval", *arguments, "--output", str(tmp_path / "evals"))
    assert done.returncode == 2, done.stdout
    assert word in " ".join(done.stderr.split())
    assert not (tmp_path / "evals").exists()
