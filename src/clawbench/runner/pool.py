"""Many runs side by side: a few at a time, one retry where it may help, nothing done twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from clawbench.results import Cause, FinishReason, RunDirectory, RunRecord, State, StopReason
from clawbench.results.layout import claim
from clawbench.runner.host import Host
from clawbench.runner.progress import Progress
from clawbench.runner.run import run_task
from clawbench.runner.spec import RunSpec
from clawbench.tasks.predictions import Prediction, write_predictions

WORKERS = 3
ATTEMPTS = 2
_WORTH_A_RETRY = frozenset((FinishReason.ERROR, FinishReason.EMPTY))
Finished = tuple[RunDirectory, RunRecord]


async def run_many(
    host: Host,
    specs: Sequence[RunSpec],
    *,
    workers: int = WORKERS,
    progress: Callable[[RunSpec], Progress],
    done: Callable[[Finished], None] = lambda _finished: None,
) -> list[Finished]:
    """Perform all runs, in the specs' order; those that an earlier call finished are taken as they are."""
    places = asyncio.Semaphore(workers)

    async def one(spec: RunSpec) -> Finished | None:
        async with places:
            before = attempts_of(spec)
            if before and is_finished(before[-1][1], len(before)):
                return before[-1]
            finished = None
            for _ in range(len(before), max(ATTEMPTS, len(before) + 1)):
                if host.cancelled.is_set():
                    return finished
                finished = await run_task(host, spec, progress(spec))
                done(finished)
                if not deserves_retry(finished[1]):
                    break
            return finished

    found = await asyncio.gather(*(one(spec) for spec in specs))
    return [finished for finished in found if finished is not None]


def attempts_of(spec: RunSpec) -> list[Finished]:
    """The runs of this batch that this spec has already had, the last one last."""
    parent = spec.output.absolute()
    for name in (spec.batch, spec.task.suite, spec.task.id, f"{spec.harness.name}--{spec.model.name}"):
        parent = claim(parent, name)
    numbered = sorted((path for path in parent.iterdir() if path.name.isdecimal()), key=lambda p: int(p.name))
    found = []
    for path in numbered:
        run = RunDirectory(path)
        try:
            found.append((run, RunRecord.model_validate_json(run.record.read_bytes())))
        except (OSError, ValidationError):
            continue
    return found


def deserves_retry(record: RunRecord) -> bool:
    """The harness failed or answered nothing; a timeout or a spent budget is no such case."""
    by_itself = record.stop_reason in (StopReason.AGENT_EXITED, StopReason.ERROR)
    return by_itself and record.finish_reason in _WORTH_A_RETRY


def is_finished(record: RunRecord, attempts: int) -> bool:
    """Nothing is left to do: not cut off, not cancelled, not broken on our side, not to be retried."""
    if record.state is not State.DONE or record.stop_reason is StopReason.CANCELLED:
        return False
    if record.cause is Cause.INFRASTRUCTURE:
        return False
    return attempts >= ATTEMPTS or not deserves_retry(record)


def prediction_of(run: RunDirectory, record: RunRecord) -> Prediction:
    """What SWE-bench's evaluator takes; more fields of ours do not disturb it."""
    patch = run.patch.read_bytes() if run.patch.is_file() else b""
    return Prediction.model_validate(
        {
            "instance_id": record.task.name,
            "model_name_or_path": f"{record.harness.name}--{record.model.name}",
            "model_patch": patch.decode("utf-8", "surrogateescape"),
            "patch_from": record.patch_from,
            "finish_reason": None if record.finish_reason is None else record.finish_reason.value,
            "future": record.future,
            "leaks": record.leaks,
        }
    )


def save_predictions(file: Path, finished: Sequence[Finished]) -> None:
    """One line per task and model; those of earlier calls in this batch stay."""
    kept = {}
    if file.is_file():
        lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
        kept = {(entry["instance_id"], entry["model_name_or_path"]): Prediction(**entry) for entry in lines}
    for run, record in finished:
        if record.kind == "coding" and record.stop_reason is not StopReason.CANCELLED:
            prediction = prediction_of(run, record)
            kept[prediction.instance_id, prediction.model_name_or_path] = prediction
    file.parent.mkdir(parents=True, exist_ok=True)
    write_predictions(file, kept.values())
