"""The runs of a check: one that works, one that is stopped in the middle."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from clawbench.errors import MissingPartError
from clawbench.harnesses import Harness, asks_model, installed_hash
from clawbench.harnesses.rehearsal import Forbidden, Rehearsed
from clawbench.models import SCRIPTED, ApiType, Model, absent_model
from clawbench.results import FinishReason, RunDirectory, RunRecord, StopReason
from clawbench.runner.checking import reading
from clawbench.runner.checking.findings import (
    Checked,
    Finding,
    KindChecked,
    Status,
    failed,
    ok,
    skipped,
    together,
)
from clawbench.runner.checking.policy import never_stop, rehearse
from clawbench.runner.checking.tasks import EDIT, PRESS, coding_task, web_task
from clawbench.runner.checking.watching import Watched
from clawbench.runner.host import Host, open_host
from clawbench.runner.progress import Progress
from clawbench.runner.run import run_task
from clawbench.runner.spec import RunSpec
from clawbench.sandbox import Root
from clawbench.tasks import Task

KINDS = ("coding", "web")
STOP_S = 3.0
"""How soon after a stop nothing of an agent may be left."""
Tell = Callable[[str], None]


async def check_harness(
    make: Callable[[], Harness],
    output: Path,
    *,
    kinds: tuple[str, ...] = KINDS,
    api: ApiType | None = None,
    root: Root | None = None,
    tell: Tell = lambda _text: None,
) -> Checked:
    """Run the harness at both kinds of task; the run directories are left in `output`."""
    harness = make()
    found: dict[str, KindChecked] = {}
    for kind in kinds:
        try:
            found[kind] = await _check_kind(make, kind, output, api, root, tell)
        except MissingPartError as error:
            found[kind] = KindChecked(Status.SKIPPED, str(error))
    return Checked(harness.name, harness.version, found)


async def _check_kind(
    make: Callable[[], Harness], kind: str, output: Path, api: ApiType | None, root: Root | None, tell: Tell
) -> KindChecked:
    harness = make()
    if kind not in harness.kinds:
        return KindChecked(Status.SKIPPED, f"{harness.name} does no {kind} tasks")
    installed_hash(harness)
    spoken = getattr(harness, "apis", (ApiType.OPENAI_COMPLETIONS,))
    if api is not None and api not in spoken:
        return KindChecked(Status.SKIPPED, f"{harness.name} does not speak {api.value}")
    with tempfile.TemporaryDirectory(prefix="clawbench-check-") as scratch:
        task = await coding_task(Path(scratch)) if kind == "coding" else web_task(Path(scratch))
        rehearsal = _Rehearsal(make, task, Path(scratch), output, api or spoken[0], tell, root)
        if not asks_model(harness):
            return together(await rehearsal.without_model())
        if not isinstance(harness, Rehearsed):
            return KindChecked(Status.SKIPPED, f"{harness.name} does not say how it is rehearsed")
        return together(await rehearsal.with_model(harness))


@dataclass(frozen=True)
class _Rehearsal:
    """One harness at one task."""

    make: Callable[[], Harness]
    task: Task
    scratch: Path
    output: Path
    api: ApiType
    tell: Tell
    root: Root | None

    async def with_model(self, harness: Rehearsed) -> Mapping[str, Finding]:
        lines = harness.edits(EDIT) if self.task.kind == "coding" else harness.presses(PRESS)
        forbidden: Forbidden | None = harness.forbidden(self.task.kind)
        script = rehearse(lines, forbidden.line if forbidden else None)
        run, record = await self._perform(self._spec(self.make(), self._model("work", script)))
        stopping = self._model("stop", never_stop(harness.keeps_busy(self.task.kind)))
        return {
            **self._work(run, record),
            "usage": reading.metered(run, record),
            "claim": reading.claimed(record),
            "policy": reading.refused(run, forbidden),
            "stop": await self._stopped(stopping, lambda progress: progress.metered.turns >= 2),
        }

    async def without_model(self) -> Mapping[str, Finding]:
        """Of a harness that asks no model: it acts, or says truly that it did nothing."""
        model = absent_model("none")
        run, record = await self._perform(self._spec(self.make(), model))
        acted = bool(record.actions) or (run.patch.is_file() and run.patch.stat().st_size > 0)
        if record.error:
            work = failed(record.error)
        elif not acted and record.kind == "coding" and record.finish_reason is not FinishReason.EMPTY:
            work = failed(f"it did nothing, but its finish reason is {record.finish_reason}")
        else:
            work = ok(f"{record.actions} actions" if acted else "did nothing, and says so")
        stop = skipped("it ends by itself at once")
        if acted:
            stop = await self._stopped(model, lambda progress: progress.requests >= 1)
        return {"work": work, "usage": reading.unmetered(record), "stop": stop}

    def _work(self, run: RunDirectory, record: RunRecord) -> Mapping[str, Finding]:
        if self.task.kind == "coding":
            return {"work": reading.edited(run, record)}
        return {"work": reading.pressed(record)}

    async def _stopped(self, model: Model, busy: Callable[[Progress], bool]) -> Finding:
        """Cancelled in the middle of its work, it is gone in time and leaves no process."""
        watched = Watched(self.make())
        stopped_at: list[float] = []

        def when_busy(host: Host, progress: Progress) -> None:
            if not stopped_at and busy(progress):
                stopped_at.append(time.monotonic())
                host.cancelled.set()

        try:
            _, record = await self._perform(self._spec(cast(Harness, watched), model), when_busy)
            left = watched.left_processes()
        finally:
            watched.forget()
        if not stopped_at or record.stop_reason is not StopReason.CANCELLED or watched.ended_at is None:
            return failed(f"it could not be stopped: {record.stop_reason} ({record.stop_description})")
        took = watched.ended_at - stopped_at[0]
        if left:
            return failed(f"left running: {', '.join(left)}")
        return ok(f"{took:.1f} s") if took <= STOP_S else failed(f"took {took:.1f} s")

    async def _perform(
        self, spec: RunSpec, watch: Callable[[Host, Progress], None] = lambda _host, _progress: None
    ) -> tuple[RunDirectory, RunRecord]:
        self.tell(f"{spec.harness.name} · {self.task.kind} · {spec.model.name}")
        progress = Progress(spec.harness.name)
        async with open_host() as host:
            progress.changed = lambda: watch(host, progress)
            return await run_task(host, spec, progress)

    def _spec(self, harness: Harness, model: Model) -> RunSpec:
        return RunSpec(
            task=self.task, model=model, harness=harness, output=self.output, batch="check", root=self.root
        )

    def _model(self, name: str, policy: Mapping[str, Any]) -> Model:
        file = self.scratch / f"{name}.yaml"
        file.write_text(yaml.safe_dump(dict(policy), allow_unicode=True), encoding="utf-8")
        return Model(name=f"scripted-{name}", base_url=f"{SCRIPTED}{file}", api_type=self.api)
