"""Why a run ended, and whose fault it was, from evidence: coding runs with a model that misbehaves."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.gateway import Budget
from clawbench.harnesses import get_harness
from clawbench.models import ApiType, Model, scripted_model
from clawbench.results import Cause, FinishReason, RunDirectory, RunRecord, StopReason, Verdict
from clawbench.runner import Progress, RunSpec, open_host, run_task
from clawbench.tasks import CodingTask, load_suite

LOOPING = """
description: Never comes to an end
price: {input: 1000, output: 1000}
rules: [{when: {tools: [shell]}, calls: [{tool: shell, arguments: {command: "true"}}]}]
"""
WAITING = """
description: Waits for a long command
price: {input: 1, output: 1}
rules: [{when: {tools: [shell]}, calls: [{tool: shell, arguments: {command: "sleep 100"}}]}]
"""
SILENT = """
description: Says nothing of use
price: {input: 1, output: 1}
rules: [{when: {turn: 0}, text: "I am done."}]
"""


def coding_task() -> CodingTask:
    return next(task for task in load_suite("demo") if isinstance(task, CodingTask))


def perform(model: Model, tmp_path: Path, **options: object) -> tuple[RunDirectory, RunRecord]:
    async def scenario() -> tuple[RunDirectory, RunRecord]:
        spec = RunSpec(
            task=coding_task(),
            model=model,
            harness=get_harness("reference"),
            output=tmp_path / "runs",
            batch="b",
            **options,  # type: ignore[arg-type]
        )
        async with open_host() as host:
            return await run_task(host, spec, Progress("x"))

    return asyncio.run(scenario())


def scripted(tmp_path: Path, policy: str) -> Model:
    file = tmp_path / "policy.yaml"
    file.write_text(policy)
    return scripted_model("scripted-policy", file)


def test_a_budget_ends_the_run_after_the_call_that_crossed_it(tmp_path: Path) -> None:
    _, record = perform(scripted(tmp_path, LOOPING), tmp_path, budget=Budget(cost_usd=1.0))
    assert record.stop_reason is StopReason.BUDGET
    assert record.cost_usd is not None
    assert record.cost_usd >= 1.0
    calls = record.usage.measured.calls
    assert record.cost_usd < 1.0 + 2 * record.cost_usd / calls


def test_a_cap_on_calls(tmp_path: Path) -> None:
    _, record = perform(scripted(tmp_path, LOOPING), tmp_path, budget=Budget(calls=3))
    assert record.stop_reason is StopReason.BUDGET
    assert record.usage.measured.calls == 3


def test_the_time_limit_ends_a_waiting_agent(tmp_path: Path) -> None:
    _, record = perform(scripted(tmp_path, WAITING), tmp_path, time_limit_s=1.5)
    assert record.stop_reason is StopReason.TIME_LIMIT
    assert record.finish_reason is FinishReason.TIMEOUT
    assert record.verdict is Verdict.UNRESOLVED
    assert record.cause is Cause.AGENT


def test_idle_ends_a_waiting_agent(tmp_path: Path) -> None:
    _, record = perform(scripted(tmp_path, WAITING), tmp_path, idle_s=1.5)
    assert record.stop_reason is StopReason.IDLE


def test_a_turn_limit(tmp_path: Path) -> None:
    _, record = perform(scripted(tmp_path, LOOPING), tmp_path, max_turns=4)
    assert record.stop_reason is StopReason.AGENT_EXITED
    assert record.finish_reason is FinishReason.TIMEOUT
    assert record.usage.measured.turns == 4


def test_an_agent_that_changes_nothing_leaves_an_empty_patch(tmp_path: Path) -> None:
    run, record = perform(scripted(tmp_path, SILENT), tmp_path)
    assert record.verdict is Verdict.UNRESOLVED
    assert record.cause is Cause.AGENT
    assert run.patch.read_bytes() == b""


def test_a_model_that_cannot_be_reached_is_not_the_agents_fault(tmp_path: Path) -> None:
    dead = Model(name="dead", base_url="http://127.0.0.1:9/v1", api_type=ApiType.OPENAI_COMPLETIONS)
    _, record = perform(dead, tmp_path, time_limit_s=60)
    assert record.stop_reason is StopReason.MODEL_UNREACHABLE
    assert record.cause is Cause.MODEL
    assert record.cost_usd is None
    assert record.usage.measured.turns == 0


def test_a_cap_that_could_not_be_kept_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    unpriced = Model(name="mystery-9", base_url="http://127.0.0.1:9", api_type=ApiType.OPENAI_COMPLETIONS)
    with pytest.raises(InputError, match="price"):
        perform(unpriced, tmp_path, budget=Budget(cost_usd=1.0))
    assert not (tmp_path / "runs").exists()
