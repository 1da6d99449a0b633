"""Making a recorded run again: its task, harness, model and options, from its run directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

import clawbench
from clawbench.errors import InputError
from clawbench.gateway import Meter, RecordedCall, RecordedUpstream, ReplayPlan, read_record
from clawbench.given import read_given
from clawbench.harnesses import Harness
from clawbench.harnesses.human import HUMAN
from clawbench.models import Model
from clawbench.results import (
    ReplayMode,
    ReplayReport,
    RunDirectory,
    RunOptions,
    RunRecord,
    State,
    StopReason,
    first_action_apart,
    same_patch,
)
from clawbench.tasks import BUNDLED, Task, content_hash, find_task, first_problem

RECORD = "run.json"


@dataclass(frozen=True)
class Original:
    """A run that was recorded."""

    run: RunDirectory
    record: RunRecord
    calls: list[RecordedCall]

    @property
    def options(self) -> RunOptions:
        return self.record.options or RunOptions()

    @property
    def stop_reason(self) -> StopReason | None:
        """None where the run was killed before it came to any end."""
        return self.record.stop_reason if self.record.state is State.DONE else None

    @property
    def missing(self) -> int:
        """Model calls that the run made and that its record no longer holds."""
        return max(0, self.record.usage.measured.calls - sum(call.generates for call in self.calls))


@dataclass(frozen=True)
class Replaying:
    """A record that answers a new run's model calls."""

    original: Original
    mode: ReplayMode
    changes: tuple[str, ...] = ()
    """What is not as it was, in words."""

    @property
    def plan(self) -> ReplayPlan:
        record = self.original.record
        return ReplayPlan(
            calls=self.original.calls,
            mode=self.mode,
            run_id=record.run_id,
            stop_reason=self.original.stop_reason,
            price=record.price,
            missing=self.original.missing,
        )

    def report(self) -> ReplayReport:
        """What is known before the run begins."""
        record = self.original.record
        return ReplayReport(
            of=record.run_id,
            directory=str(self.original.run.path),
            mode=self.mode,
            recorded_calls=len(self.original.calls),
            recorded_verdict=record.verdict,
            recorded_stop_reason=self.original.stop_reason,
            changes=list(self.changes),
        )


def read_original(given: Path) -> Original:
    """The recorded run of a directory; InputError says what is wrong with it."""
    run = RunDirectory(_directory(given).absolute())
    try:
        record = RunRecord.model_validate_json(read_given(run.record, "Name the directory of a run"))
    except ValidationError as error:
        raise first_problem(
            error, run.record, "`clawbench tasks schema run` prints what is allowed"
        ) from None
    if record.harness.name == HUMAN:
        raise InputError(
            "was driven by a person", file=run.path, remedy="Only runs of an agent can be replayed"
        )
    return Original(run, record, read_record(run))


def _directory(given: Path) -> Path:
    if given.name == RECORD and given.is_file():
        return given.parent
    if (given / RECORD).is_file() or not given.is_dir():
        return given
    below = sorted(path.parent for path in given.rglob(RECORD))
    if len(below) == 1:
        return below[0]
    found = f"{len(below)} runs are below it" if below else "no run is below it"
    shown = f", such as {below[0]}" if below else ""
    raise InputError(
        f"is not the directory of a run ({found})", file=given, remedy=f"Name the directory of one run{shown}"
    )


def original_task(original: Original) -> Task:
    """The recorded task, where it was or as a bundled one."""
    record = original.record
    kept = Path(record.task_directory) if record.task_directory else None
    bundled = f"{record.suite}/{record.task.name}"
    if kept is not None and kept.is_dir():
        return find_task(str(kept))
    if (BUNDLED / bundled).is_dir():
        return find_task(bundled)
    raise InputError(
        f"the task {bundled} is no longer {f'at {kept}' if kept else 'known'}",
        file=original.run.record,
        field="task",
        remedy="Name it with --task",
    )


def recorded_model(original: Original) -> Model:
    """The model as it was, without keys: enough where nobody asks it."""
    settings = {k: v for k, v in original.record.model_settings.items() if k != "policy_hash"}
    try:
        return Model.model_validate(settings)
    except ValidationError as error:
        raise first_problem(error, original.run.record, "`model_settings` is what models.yaml had") from None


def changes_since(original: Original, task: Task, harness: Harness, model: Model) -> tuple[str, ...]:
    """What may make the new run differ before the agent has done anything."""
    record = original.record
    changes = []
    if record.task.content_hash not in (None, content_hash(task)):
        changes.append(f"The task {task.suite}/{task.id} has changed since it was recorded")
    if (task.suite, task.id) != (record.suite, record.task.name):
        changes.append(f"The recorded task was {record.suite}/{record.task.name}")
    if harness.name != record.harness.name:
        changes.append(f"The recorded harness was {record.harness.name}")
    elif harness.version != record.harness.version:
        changes.append(f"The harness is version {harness.version} now, and was {record.harness.version}")
    if record.code_version != clawbench.__version__:
        changes.append(f"Clawbench is version {clawbench.__version__} now, and was {record.code_version}")
    if model.api_type.value != record.model_settings.get("api_type", model.api_type.value):
        changes.append(f"The recorded model spoke {record.model_settings['api_type']}")
    if missing := original.missing:
        changes.append(f"The record lacks {missing} of {record.usage.measured.calls} model calls")
    if record.options is None:
        changes.append("The record is from before options were kept: the defaults are used")
    return tuple(changes)


def note_replay(record: RunRecord, run: RunDirectory, meter: Meter) -> None:
    """Write down how the replay went."""
    upstream = meter.upstream
    if record.replay is None or not isinstance(upstream, RecordedUpstream):
        return
    state = upstream.progress
    outcome, unused = upstream.outcome()
    original = RunDirectory(Path(record.replay.directory))
    web = record.kind == "web"
    record.replay = record.replay.model_copy(
        update={
            "outcome": outcome,
            "replayed_calls": state.replayed,
            "live_calls": state.live,
            "live_from": state.live_from,
            "divergence": state.divergence,
            "divergences": state.divergences,
            "unasked": [call.id for call in unused],
            "first_action_apart": first_action_apart(original, run) if web else None,
            "same_patch": None if web else same_patch(original, run),
        }
    )
