"""`clawbench run --suite`: many tasks, a few at a time, with predictions at the end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.live import Live

from clawbench.cli.console import as_json_text, err, out
from clawbench.cli.live import Lines, cancel_on_signals, plain_reporter, say
from clawbench.cli.tables import run_row, show_runs
from clawbench.gateway import BatchBudget
from clawbench.results import StopReason, Verdict
from clawbench.results.layout import claim
from clawbench.runner import Progress, RunSpec, open_host
from clawbench.runner.pool import Finished, run_many, save_predictions

CANCELLED_EXIT = 130
PREDICTIONS = "predictions.jsonl"


def run_suite(specs: Sequence[RunSpec], *, workers: int, max_batch_cost: float | None, as_json: bool) -> None:
    """Perform the runs, keep the predictions up to date, and show how it went."""
    file = claim(specs[0].output.absolute(), specs[0].batch) / PREDICTIONS
    finished, cancelled = asyncio.run(_perform(specs, workers, max_batch_cost, file))
    save_predictions(file, finished)
    totals = summary(finished, asked=len(specs), predictions=file)
    if as_json:
        for run, record in finished:
            line = {"directory": str(run.path), **record.model_dump(mode="json")}
            sys.stdout.write(as_json_text(line) + "\n")
        sys.stdout.write(json.dumps(totals) + "\n")
    else:
        show_runs([run_row(run, record) for run, record in finished])
        _tell(totals)
    if cancelled:
        raise typer.Exit(CANCELLED_EXIT)
    if any(record.error is not None for _, record in finished):
        raise typer.Exit(1)


async def _perform(
    specs: Sequence[RunSpec], workers: int, max_batch_cost: float | None, file: Path
) -> tuple[list[Finished], bool]:
    lines: list[Progress] = []
    so_far: list[Finished] = []

    def progress(spec: RunSpec) -> Progress:
        line = Progress(f"{spec.task.id} · {spec.harness.name} · {spec.model.name}")
        line.tell = say
        if not err.is_terminal:
            line.changed = plain_reporter(line)
        lines.append(line)
        line.restart()
        return line

    def done(finished: Finished) -> None:
        so_far.append(finished)
        save_predictions(file, so_far)
        lines[:] = [line for line in lines if line.phase != "done"]

    async with open_host(BatchBudget(max_batch_cost)) as host:
        cancel_on_signals(host)
        with Live(Lines(lines), console=err, refresh_per_second=4, transient=True):
            found = await run_many(host, specs, workers=workers, progress=progress, done=done)
        return found, host.cancelled.is_set()


def summary(finished: Sequence[Finished], *, asked: int, predictions: Path) -> dict[str, object]:
    """Totals, with and without the runs that show signs of having seen the answer."""
    records = [record for _, record in finished]
    clean = [record for record in records if not record.leaks]
    return {
        "resolved": sum(record.verdict is Verdict.RESOLVED for record in records),
        "total": asked,
        "finished": sum(record.stop_reason is not StopReason.CANCELLED for record in records),
        "apply_failed": sum(record.verdict is Verdict.APPLY_FAILED for record in records),
        "flagged": len(records) - len(clean),
        "resolved_unflagged": sum(record.verdict is Verdict.RESOLVED for record in clean),
        "cost_usd": _cost(finished),
        "predictions": str(predictions),
    }


def _cost(finished: Sequence[Finished]) -> float | None:
    costs = [record.cost_usd for _, record in finished]
    return None if None in costs else round(sum(cost or 0.0 for cost in costs), 6)


def _tell(totals: dict[str, object]) -> None:
    out.print(
        f"{totals['resolved']} of {totals['total']} resolved, {totals['apply_failed']} patches that do not "
        f"apply; {totals['flagged']} runs show signs of having seen the answer, without them "
        f"{totals['resolved_unflagged']} resolved"
    )
    out.print(f"predictions: {totals['predictions']}", highlight=False, soft_wrap=True)
