"""The life of one run: load, prepare, environment up, harness, stop, collect, score, tear down."""

from __future__ import annotations

import asyncio
import secrets
import time
import traceback
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import clawbench
from clawbench.errors import ClawbenchError
from clawbench.gateway import Meter
from clawbench.harnesses import CDP, CDP_PORT, GATEWAY, GATEWAY_PORT, AgentResult, RunContext, installed_hash
from clawbench.harnesses.tool_policy import WEB_COMMANDS
from clawbench.results import (
    Cause,
    FinishReason,
    Identified,
    Isolation,
    Reserve,
    RunDirectory,
    RunRecord,
    Score,
    State,
    StopReason,
    Verdict,
    cannot_be_kept,
    no_room,
)
from clawbench.runner import last_words
from clawbench.runner.accounts import usage_report
from clawbench.runner.host import Host
from clawbench.runner.progress import Progress
from clawbench.runner.replay import note_replay
from clawbench.runner.services import BridgedServices
from clawbench.runner.spec import RunSpec
from clawbench.runner.stages import WORKSPACE, CodingStage, Stage, WebStage
from clawbench.runner.stops import Condition, Stop, after, event, first_of, idle
from clawbench.sandbox import Mount, Sandbox, open_sandbox, system_name
from clawbench.tasks import WebTask, content_hash

PROJECT = Path(clawbench.__file__).parent
"""Holds the bundled answers: hidden from every sandbox."""


async def run_task(host: Host, spec: RunSpec, progress: Progress) -> tuple[RunDirectory, RunRecord]:
    """Run one harness with one model at one task; once begun, it ends with a record whatever happens."""
    plan = None if spec.replay is None else spec.replay.plan
    host.gateway.check(spec.model, spec.budget, host.batch, plan)
    installed_hash(spec.harness)
    started = time.monotonic()
    run = RunDirectory.create(
        spec.output,
        batch=spec.batch,
        suite=spec.task.suite,
        task=spec.task.id,
        harness=spec.harness.name,
        model=spec.model.name,
    )
    record = new_record(spec, run)
    record.enter(State.PREPARING, run)
    reserve = Reserve(run.reserve)
    host.guardian.watch_record(last_words.command(run))
    try:
        reserve.set_aside()
        async with host.run_scratch(record.run_id) as scratch:
            await _Life(host, spec, progress, run, record, scratch).live()
    except Exception as error:
        _give_up(record, error)
    finally:
        record.duration_s = round(time.monotonic() - started, 3)
        _conclude(record, run)
        reserve.release()
        host.guardian.forget_record(last_words.command(run))
        progress.enter("done")
    return run, record


def _conclude(record: RunRecord, run: RunDirectory) -> None:
    """Write the record's last version."""
    run.drop_unfinished()
    run.drop_empty_logs()
    record.files = run.present()
    record.screenshots = run.screenshot_count() if record.kind == "web" else None
    try:
        record.enter(State.DONE, run, at_last=True)
    except OSError as error:
        before = f"{record.error} " if record.error else ""
        record.error = f"{before}This is not in run.json: {in_words(error)}"


def new_record(spec: RunSpec, run: RunDirectory) -> RunRecord:
    return RunRecord(
        run_id=uuid.uuid4().hex[:12],
        kind=spec.task.kind,
        suite=spec.task.suite,
        task=Identified(name=spec.task.id, content_hash=content_hash(spec.task)),
        harness=Identified(
            name=spec.harness.name, version=spec.harness.version, content_hash=installed_hash(spec.harness)
        ),
        **_model_fields(spec),
        scripted=spec.model.scripted,
        code_version=clawbench.__version__,
        sandbox=spec.sandbox,
        isolation=isolation_of(spec),
        attempt=int(run.path.name),
        task_directory=str(spec.task.directory),
        options=spec.options,
        seeds={"identity": secrets.token_hex(16), **spec.seeds} if spec.task.kind == "web" else {},
        replay=None if spec.replay is None else spec.replay.report(),
    )


def _model_fields(spec: RunSpec) -> dict[str, Any]:
    """The model; where only a record answers, as the record has it."""
    if spec.replay is not None and not spec.replay.plan.goes_live:
        recorded = spec.replay.original.record
        return {"model": recorded.model, "model_settings": recorded.model_settings}
    model = Identified(name=spec.model.name, content_hash=spec.model.content_hash())
    return {"model": model, "model_settings": spec.model.settings()}


def isolation_of(spec: RunSpec) -> Isolation:
    """How much of the agent's reach is cut off; a browser elsewhere has a network of its own."""
    if spec.sandbox == "none":
        return Isolation.NONE
    return Isolation.FULL if spec.browser_cdp is None else Isolation.PARTIAL


def _give_up(record: RunRecord, error: Exception) -> None:
    """The run broke on our side: say so, and blame nobody else."""
    explanation = in_words(error)
    known = isinstance(error, ClawbenchError) or no_room(error)
    record.error = explanation if known else "".join(traceback.format_exception(error))
    if record.stop_reason is None:
        record.stop_reason, record.stop_description = StopReason.ERROR, explanation
    verdict = Verdict.UNJUDGED if record.kind == "web" else Verdict.ERROR
    record.settle(Score(verdict=verdict, cause=Cause.INFRASTRUCTURE, explanation=explanation))


def in_words(error: Exception) -> str:
    if isinstance(error, OSError) and no_room(error):
        return cannot_be_kept(f"{error.filename}: {error.strerror}")
    return str(error)


@dataclass
class _Life:
    """The steps of one run over the things they share."""

    host: Host
    spec: RunSpec
    progress: Progress
    run: RunDirectory
    record: RunRecord
    scratch: Path

    async def live(self) -> None:
        async with AsyncExitStack() as stack:
            meter = self.host.gateway.open_run(
                run_id=self.record.run_id,
                model=self.spec.model,
                run=self.run,
                budget=self.spec.budget,
                batch=self.host.batch,
                replay=None if self.spec.replay is None else self.spec.replay.plan,
                on_change=self._refresh,
            )
            self._meter = meter
            self.record.price = meter.price
            stack.callback(note_replay, self.record, self.run, meter)
            stack.push_async_callback(meter.close)
            stage = self._make_stage()
            stack.push_async_callback(stage.close)
            stack.callback(stage.describe, self.record)
            self.run.prompt.write_text(stage.prompt, encoding="utf-8")
            stop = await self._act(stage, meter)
            self._enter(State.STOPPING)
            stop = await stage.down(stop)
            await meter.close()
            stop = self._settle_stop(stop, meter)
            self._enter(State.SCORING)
            self.record.settle(await self._score(stage, stop))

    async def _score(self, stage: Stage, stop: Stop) -> Score:
        replay_over = self.record.replay is not None and stop.reason is StopReason.ERROR
        if stop.reason is not StopReason.CANCELLED and not replay_over:
            score = await stage.score(self.record)
            if not score.verdict.passed and stop.reason is StopReason.MODEL_UNREACHABLE:
                score.cause = Cause.MODEL
            return score
        verdict = Verdict.UNJUDGED if self.record.kind == "web" else Verdict.ERROR
        why = (
            "The replay ended before the agent did" if replay_over else "The run was cancelled before its end"
        )
        return Score(verdict=verdict, cause=Cause.NONE, explanation=why)

    def _make_stage(self) -> Stage:
        task = self.spec.task
        if isinstance(task, WebTask) and self.spec.extension is not None:
            from clawbench.runner.stages.extension import ExtensionStage

            return ExtensionStage(
                *(self.spec.extension, task, self.run, self.host, self.scratch, self.progress),
                *(self.record.run_id, self.record.seeds["identity"]),
            )
        if isinstance(task, WebTask):
            seed = self.record.seeds["identity"]
            return WebStage(self.spec, task, self.run, self.host, self.scratch, self.progress, seed)
        return CodingStage(self.spec, task, self.run, self.host, self.scratch)

    async def _act(self, stage: Stage, meter: Meter) -> Stop:
        """Environment up, agent's time, agent gone."""
        raised = asyncio.ensure_future(stage.up())
        cancelled = event(self.host.cancelled, Stop(StopReason.CANCELLED, "The run was cancelled"))
        early = await first_of([cancelled], raised)
        if early is not None:
            raised.cancel()
            await asyncio.gather(raised, return_exceptions=True)
            return early
        await raised
        stage.describe(self.record)
        self._enter(State.RUNNING)
        if self.spec.root is not None:
            self.record.notices.append(f"the agent's root file system was {system_name(self.spec.root.tree)}")
        sandbox = self._open_sandbox(stage)
        try:
            return await self._agent_time(stage, meter, sandbox, cancelled)
        finally:
            await sandbox.close()

    def _open_sandbox(self, stage: Stage) -> Sandbox:
        home, work = self.scratch / "home", self.scratch / "work"
        home.mkdir(mode=0o700)
        mounts = list(stage.mounts)
        if all(mount.target != WORKSPACE for mount in mounts):
            work.mkdir(mode=0o700)
            mounts.append(Mount(work, WORKSPACE, writable=True))
        return open_sandbox(
            self.spec.sandbox,
            home=home,
            mounts=mounts,
            hide=[PROJECT, self.spec.output.absolute()],
            guardian=self.host.guardian,
            path_first=stage.path_first if isinstance(stage, CodingStage) else (),
            commands=WEB_COMMANDS if self.record.kind == "web" else None,
            root=self.spec.root,
        )

    async def _agent_time(self, stage: Stage, meter: Meter, sandbox: Sandbox, cancelled: Condition) -> Stop:
        harness = self.spec.harness
        services = BridgedServices({GATEWAY: self.host.gateway.socket_path, **stage.sockets})
        ports = {GATEWAY: GATEWAY_PORT, CDP: CDP_PORT}
        context = RunContext(
            kind=self.spec.task.kind,
            sandbox=sandbox,
            model=self.spec.model.model_copy(update={"api_keys": ()}),
            token=meter.token,
            services=services,
            listen={name: sandbox.free_port(ports[name]) for name in (GATEWAY, *stage.sockets)},
            workspace=sandbox.inside(WORKSPACE),
            harness_dir=self.run.harness,
            time_limit_s=self.spec.agent_time_s,
            max_turns=self.spec.max_turns,
            limits=self.spec.limits,
        )
        started = time.monotonic()
        await harness.provision(sandbox)
        agent = await harness.open(context)
        try:
            performing = asyncio.ensure_future(harness.perform(agent, stage.prompt))
            stop = await first_of([*self._conditions(stage, meter), cancelled], performing)
            result = await _end(performing)
            self.record.agent_duration_s = round(time.monotonic() - started, 3)
            self._note_result(result, stop)
            self.record.notices += getattr(agent, "notices", ())
            claim = await harness.collect(agent, self.run.harness)
            self.record.usage = usage_report(meter.metered, claim)
        finally:
            await harness.close(agent)
            await services.close()
        return stop or Stop(StopReason.AGENT_EXITED, result.detail if result else "The agent ended")

    def _conditions(self, stage: Stage, meter: Meter) -> list[Condition]:
        async def metered() -> Stop:
            return Stop(*await meter.stop_signal())

        return [
            stage.stop_signal,
            metered,
            after(self.spec.agent_time_s),
            idle(
                self.spec.idle_s,
                lambda: meter.calls_under_way > 0,
                lambda: max(meter.last_activity, stage.last_activity()),
            ),
        ]

    def _note_result(self, result: AgentResult | None, stop: Stop | None) -> None:
        if result is not None:
            self.record.exit_code = result.exit_code
        if self.record.kind != "coding":
            return
        if stop is not None and stop.reason is StopReason.TIME_LIMIT:
            self.record.finish_reason = FinishReason.TIMEOUT
        elif stop is not None or result is None:
            self.record.finish_reason = FinishReason.ERROR
        else:
            self.record.finish_reason = result.finish_reason

    def _settle_stop(self, stop: Stop, meter: Meter) -> Stop:
        measured = meter.metered
        if stop.reason is StopReason.AGENT_EXITED and meter.last_failure is not None:
            stop = Stop(StopReason.MODEL_UNREACHABLE, f"The agent gave up after: {meter.last_failure}")
            if self.record.kind == "coding":
                self.record.finish_reason = FinishReason.ERROR  # some harnesses end well without their model
        self.record.stop_reason, self.record.stop_description = stop.reason, stop.description
        if stop.reason in (StopReason.ERROR, StopReason.BROWSER_CRASHED):
            self.record.error = stop.description
        claimed = self.record.usage.claimed
        self.record.usage = usage_report(measured, claimed)
        self.record.cost_usd = measured.cost_usd
        return stop

    def _refresh(self) -> None:
        self.progress.metered = self._meter.metered
        self.progress.changed()

    def _enter(self, state: State) -> None:
        try:
            self.record.enter(state, self.run)
        except OSError as error:
            if not no_room(error):  # else it is the environment's to end the run, in good order
                raise
        self.progress.enter(state.value)


async def _end(performing: asyncio.Task[AgentResult]) -> AgentResult | None:
    """The agent's own result, or None where it had to be ended; its tree is gone afterwards."""
    if not performing.done():
        performing.cancel()
    try:
        return await performing
    except asyncio.CancelledError:
        return None
