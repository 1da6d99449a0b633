"""Runs side by side in one process: one gateway, a token each, and one cap on what they cost together."""

from __future__ import annotations

import asyncio
from pathlib import Path

from clawbench.gateway import BatchBudget
from clawbench.harnesses import get_harness
from clawbench.models import Model, scripted_model
from clawbench.results import RunRecord, StopReason, read_json_lines
from clawbench.runner import Host, Progress, RunSpec, open_host, run_task
from clawbench.tasks import CodingTask, load_suite

LOOPING = """
description: Never comes to an end
price: {input: 1000, output: 1000}
rules: [{when: {tools: [shell]}, calls: [{tool: shell, arguments: {command: "true"}}]}]
"""
CAP_USD = 200.0


def spec(model: Model, output: Path, batch: str) -> RunSpec:
    task = next(task for task in load_suite("demo") if isinstance(task, CodingTask))
    return RunSpec(task=task, model=model, harness=get_harness("reference"), output=output, batch=batch)


async def perform(host: Host, model: Model, output: Path, batch: str) -> tuple[RunRecord, list[float]]:
    run, record = await run_task(host, spec(model, output, batch), Progress(batch))
    calls = [call for call in read_json_lines(run.llm_calls) if not call.get("refused")]
    return record, [call["cost_usd"] or 0.0 for call in calls]


def test_a_cap_on_the_batch_ends_every_run_of_it(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(LOOPING)
    model = scripted_model("scripted-policy", tmp_path / "policy.yaml")

    async def scenario() -> None:
        budget = BatchBudget(CAP_USD)
        async with open_host(budget) as host:
            runs = [perform(host, model, tmp_path / "runs", name) for name in ("one", "two", "three")]
            done = await asyncio.gather(*runs)
            late, nothing = await perform(host, model, tmp_path / "runs", "late")
        assert [record.stop_reason for record, _ in done] == [StopReason.BUDGET] * 3
        assert all("the batch's cost reached $" in record.stop_description for record, _ in done)
        assert all(costs for _, costs in done), "the runs went on side by side"
        spent = [cost for _, costs in done for cost in costs]
        assert budget.used_usd == round(sum(spent), 9)
        # Beyond the cap is at most the call that reached it and one more of each other run.
        assert CAP_USD <= budget.used_usd <= CAP_USD + 3 * max(spent)
        assert (late.stop_reason, nothing) == (StopReason.BUDGET, [])

    asyncio.run(scenario())
