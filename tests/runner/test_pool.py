"""Many runs at a time: retries, resuming, predictions, and both ways of taking a patch."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from clawbench.harnesses import get_harness
from clawbench.models import scripted_model
from clawbench.results import FinishReason, Verdict
from clawbench.runner import Future, PatchFrom, Progress, RunSpec, open_host
from clawbench.runner.pool import Finished, run_many, save_predictions
from clawbench.tasks import CodingTask, find_task
from clawbench.tasks.predictions import read_predictions


def demo_task() -> CodingTask:
    task = find_task("demo/001-coding-bugfix-strata")
    assert isinstance(task, CodingTask)
    return task


def spec_of(
    tmp_path: Path, rules: list[dict[str, object]], name: str = "policy", **options: object
) -> RunSpec:
    file = tmp_path / f"{name}.yaml"
    file.write_text(yaml.safe_dump({"description": "x", "price": {"input": 1, "output": 1}, "rules": rules}))
    return RunSpec(
        task=demo_task(),
        model=scripted_model(f"scripted-{name}", file),
        harness=get_harness("reference"),
        output=tmp_path / "runs",
        batch="b",
        **options,  # type: ignore[arg-type]
    )


def perform(*specs: RunSpec) -> tuple[list[Finished], int]:
    made = []

    async def act() -> list[Finished]:
        async with open_host() as host:
            return await run_many(host, specs, progress=lambda _spec: Progress("x"), done=made.append)

    return asyncio.run(act()), len(made)


FINISH = {
    "when": {"turn": 0, "tools": ["finish"]},
    "text": "Done.",
    "calls": [{"tool": "finish", "arguments": {}}],
}
BROKEN = {"when": {"turn": 0}, "fault": {"status": 500}}


def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    specs = [spec_of(tmp_path, [FINISH], name, judged=False) for name in ("one", "two")]
    finished, made = perform(*specs)
    assert made == 2
    assert {record.verdict for _, record in finished} == {Verdict.UNJUDGED}
    again, made = perform(*specs)
    assert made == 0
    assert [run.path for run, _ in again] == [run.path for run, _ in finished]
    file = tmp_path / "runs" / "b" / "predictions.jsonl"
    save_predictions(file, finished)
    save_predictions(file, again)
    assert [entry.model_name_or_path for entry in read_predictions(file)] == [
        "reference--scripted-one",
        "reference--scripted-two",
    ]


def test_an_empty_answer_is_tried_once_more(tmp_path: Path) -> None:
    null = spec_of(tmp_path, [FINISH], judged=False)
    spec = RunSpec(
        task=null.task,
        model=null.model,
        harness=get_harness("null"),
        output=null.output,
        batch="n",
        judged=False,
    )
    finished, made = perform(spec)
    assert made == 2
    assert finished[0][1].finish_reason is FinishReason.EMPTY
    assert finished[0][1].attempt == 2
    assert perform(spec)[1] == 0


@pytest.mark.parametrize(("broken", "verdict"), [(False, Verdict.RESOLVED), (True, Verdict.APPLY_FAILED)])
def test_patch_in_the_answer(tmp_path: Path, broken: bool, verdict: Verdict) -> None:
    patch = demo_task().patch.replace("self._revision", "self.other") if broken else demo_task().patch
    patch = patch.replace(" def pop", " def pup") if broken else patch
    answer = {"when": {"turn": 0}, "text": f"This is it:\n\n```diff\n{patch}```\n"}
    finish = {"when": {"turn": 1}, "calls": [{"tool": "finish", "arguments": {}}]}
    spec = spec_of(tmp_path, [answer, finish], patch_from=PatchFrom.MESSAGE)
    ((run, record),), _ = perform(spec)
    assert record.verdict is verdict, record.score
    assert record.patch_from == "message"
    assert run.patch.read_text() == patch
    assert "unified diff" in run.prompt.read_text()
    assert demo_task().problem_statement.strip() in run.prompt.read_text()


def test_a_kept_future_is_labelled_and_what_was_seen_of_it_flagged(tmp_path: Path) -> None:
    look = {
        "when": {"turn": 0},
        "text": "Looking.",
        "calls": [{"tool": "shell", "arguments": {"command": "git log --all -p --format=%H"}}],
    }
    finish = {"when": {"turn": 1}, "calls": [{"tool": "finish", "arguments": {}}]}
    kept = spec_of(tmp_path, [look, finish], "kept", future=Future.KEEP, judged=False)
    removed = spec_of(tmp_path, [look, finish], "removed", judged=False)
    ((_, with_future), (run, without)), _ = perform(kept, removed)
    assert with_future.future == "keep"
    assert not with_future.ranked
    assert "--future keep" in with_future.leaks[0]
    assert any("commit after the base" in leak for leak in with_future.leaks)
    assert without.leaks == []
    assert json.loads(run.record.read_text())["future"] == "remove"
