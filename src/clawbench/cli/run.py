"""`clawbench run`: one harness with one model at one task."""

from __future__ import annotations

import asyncio
import math
import shutil
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from clawbench import doctor
from clawbench.cli.choices import MODELS_HELP, choose_model
from clawbench.cli.console import err, print_json
from clawbench.cli.elsewhere import CDP_HELP, check_endpoint, find_endpoint
from clawbench.cli.fitting import (
    LONGEST_MIN,
    check_known,
    check_sandbox,
    refuse_for_one_task,
    refuse_without_coding,
    refuse_without_dataset,
)
from clawbench.cli.live import perform_runs
from clawbench.cli.replaying import ends_with_record, only_one, recorded_source, replay_failed, show_replay
from clawbench.cli.rootfs import ROOTFS_HELP, find_root
from clawbench.cli.selecting import CASES_HELP, DATASET_HELP, LANGUAGE_HELP, MIRROR_HELP, Selection
from clawbench.cli.suite import CANCELLED_EXIT, run_suite
from clawbench.cli.tables import run_row, show_runs
from clawbench.cli.viewing import refuse_with_human, view_settings
from clawbench.environments.browser.ports import RECORDER as PORT
from clawbench.errors import InputError
from clawbench.gateway import Budget
from clawbench.harnesses import get_harness
from clawbench.harnesses.human import HumanHarness
from clawbench.results import RunDirectory, RunRecord, StopReason
from clawbench.runner import IDLE_S, Future, PatchFrom, RunSpec
from clawbench.runner.pool import WORKERS
from clawbench.sandbox import Limits
from clawbench.tasks import Task, find_task


def run(
    task: Annotated[
        str | None, typer.Argument(help="A task directory, `suite/id`, or an id; none with --suite.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="A name from the models file, or `scripted:POLICY` for a scripted stand-in."),
    ] = None,
    harness: Annotated[
        str | None,
        typer.Option(help="The agent program (`clawbench harness list`) (default: reference)."),
    ] = None,
    human: Annotated[bool, typer.Option("--human", help="No agent: drive the browser yourself.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show the screen live, view only.")] = False,
    listen: Annotated[
        str | None, typer.Option(help="Address of the live view (default: 127.0.0.1:6080).")
    ] = None,
    browser_cdp: Annotated[str | None, typer.Option(metavar="URL", help=CDP_HELP)] = None,
    api: Annotated[
        bool, typer.Option("--api", help="Web tasks: serve the recorder API for outside tools.")
    ] = False,
    suite: Annotated[str | None, typer.Option(help="Run the tasks of this suite, a few at a time.")] = None,
    cases: Annotated[str | None, typer.Option(metavar="GLOB", help=CASES_HELP)] = None,
    language: Annotated[str | None, typer.Option(help=LANGUAGE_HELP)] = None,
    dataset: Annotated[list[str] | None, typer.Option(help=DATASET_HELP)] = None,
    mirror: Annotated[list[Path] | None, typer.Option(metavar="DIR", help=MIRROR_HELP)] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help=f"With --suite: how many runs at a time (default: {WORKERS})."),
    ] = None,
    max_batch_cost: Annotated[
        float | None, typer.Option(min=0, help="With --suite: US dollars all its runs may cost together.")
    ] = None,
    patch_from: Annotated[
        PatchFrom,
        typer.Option(help="Coding: the patch is what git says changed, or a diff in the last message."),
    ] = PatchFrom.GIT,
    future: Annotated[
        Future,
        typer.Option(help="Coding: `keep` leaves history after the base commit; never in a leaderboard."),
    ] = Future.REMOVE,
    judged: Annotated[
        bool,
        typer.Option("--eval/--no-eval", help="Coding: run the tests at the end, or not."),
    ] = True,
    models: Annotated[Path | None, typer.Option(help=MODELS_HELP)] = None,
    output: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    batch: Annotated[str | None, typer.Option(help="Name that groups runs (default: date and time).")] = None,
    sandbox: Annotated[
        str, typer.Option(help="`bwrap`, or `none` for plain processes without any isolation.")
    ] = "bwrap",
    rootfs: Annotated[Path | None, typer.Option(metavar="DIR", help=ROOTFS_HELP)] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0.001, max=LONGEST_MIN, help="Minutes for the agent (default: the task's)."),
    ] = None,
    idle: Annotated[
        float | None,
        typer.Option(
            min=0.1, help=f"Seconds without action or model call that end a run (default: {IDLE_S:g})."
        ),
    ] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Model answers the agent may take.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars this run may cost.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens this run may use, all kinds.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Model calls this run may make.")] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=64, help=f"MiB of memory the agent may use (default: {Limits.memory_mb})."),
    ] = None,
    record_only: Annotated[
        bool,
        typer.Option("--record-only", help="Ask the model for every answer, and record it (default)."),
    ] = False,
    replay_or_fail: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Take the answers from this run's record; end where it has none."),
    ] = None,
    replay_then_live: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The same, and ask the model where the record has none."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON on stdout.")] = False,
) -> None:
    """Run one harness with one model at one task, or at the tasks of a suite; record, meter and score it.

    With --suite, a few runs go on at a time; a run whose harness failed or answered nothing is tried once
    more; with the same --batch, runs that came to their end are not made again. Its predictions.jsonl is
    for `clawbench eval`, or for any other evaluator of SWE-bench predictions.

    Every run is recorded; `clawbench replay RUN` makes one again as it was. To give a record's answers to
    another task, harness or set of options, name it here with --replay-or-fail or --replay-then-live.

    Exit code 0: the run came to its end and was scored, pass or fail. 1: it broke (see `error` in run.json).
    2: something given cannot be used; nothing was started. 130: cancelled.
    """
    view = view_settings(human=human, watch=watch, listen=listen)
    if human:
        agents = {"--model": model, "--models": models, "--harness": harness, "--rootfs": rootfs}
        caps = {"--max-cost": max_cost, "--max-tokens": max_tokens, "--max-calls": max_calls}
        refuse_with_human({**agents, **caps, "--max-turns": max_turns, "--idle": idle, "--memory": memory})
    only_one(record_only=record_only, replay_or_fail=replay_or_fail, replay_then_live=replay_then_live)
    chosen = HumanHarness() if human else get_harness(harness or "reference")
    source = recorded_source(replay_or_fail, replay_then_live, model=model, human=human)
    selection = Selection(suite, cases, language, dataset or [], mirror or [])
    many = suite is not None or bool(dataset)
    if not many:
        beside = {"--cases": cases, "--language": language, "--mirror": mirror, "--workers": workers}
        refuse_for_one_task({**beside, "--max-batch-cost": max_batch_cost is not None})
    refuse_without_dataset(mirror, dataset)
    tasks = _tasks(task, selection, many=many, alone=human or source is not None)
    patches = {"--patch-from": patch_from is not PatchFrom.GIT, "--future": future is not Future.REMOVE}
    refuse_without_coding(tasks, {**patches, "--no-eval": not judged})
    batch = batch or datetime.now().strftime("%Y%m%d-%H%M%S")

    root = find_root(rootfs, output, sandbox)

    def spec_for(found: Task) -> RunSpec:
        asked = source.model() if source and not source.live else choose_model(model, models, found, chosen)
        return RunSpec(
            task=found,
            model=asked,
            harness=chosen,
            output=output,
            batch=batch,
            sandbox=sandbox,
            root=root,
            budget=Budget(cost_usd=max_cost, tokens=max_tokens, calls=max_calls),
            limits=Limits(memory_mb=memory or Limits.memory_mb),
            time_limit_s=None if time_limit is None else time_limit * 60,
            idle_s=math.inf if human else idle or IDLE_S,
            max_turns=max_turns,
            view=view,
            browser_cdp=find_endpoint(browser_cdp, found),
            api_port=PORT if api else None,
            replay=source.announce(found, chosen, asked) if source else None,
            seeds=source.original.record.seeds if source else {},
            patch_from=patch_from,
            future=future,
            judged=judged,
        )

    specs = [spec_for(found) for found in tasks]
    check_machine(specs[:1] if many else specs)
    if many:
        run_suite(specs, workers=workers or WORKERS, max_batch_cost=max_batch_cost, as_json=as_json)
        return
    ((run_dir, record),) = asyncio.run(perform_runs(specs))
    report_run(run_dir, record, as_json=as_json)


def _tasks(task: str | None, selection: Selection, *, many: bool, alone: bool) -> list[Task]:
    if (task is None) != many:
        raise InputError(
            "say what to run", field="TASK", remedy="Give one task, or --suite (or --dataset) for many"
        )
    if task is not None:
        found = find_task(task)
        check_known(found)
        return [found]
    if alone:
        raise InputError(
            "takes one task", field="--suite", remedy="Leave --human and --replay-… out, or name a task"
        )
    return selection.tasks()


def report_run(run_dir: RunDirectory, record: RunRecord, *, as_json: bool) -> None:
    """Show how the run ended; the exit code says it, too."""
    if as_json:
        print_json({"directory": str(run_dir.path), **record.model_dump(mode="json")})
    else:
        show_runs([run_row(run_dir, record)])
        show_replay(record)
    if record.stop_reason is StopReason.CANCELLED:
        raise typer.Exit(CANCELLED_EXIT)
    if record.error is not None and (as_json or not ends_with_record(record)):
        err.print(record.error, markup=False, highlight=False)
    if record.error is not None or replay_failed(record):
        raise typer.Exit(1)


def check_machine(specs: list[RunSpec]) -> None:
    """Everything the runs need is there and can be written to, or an error before anything starts."""
    for spec in specs:
        check_sandbox(spec.sandbox)
        if spec.sandbox == "none":
            err.print(
                "sandbox `none`: the agent runs as you, with your files and network. Nothing is isolated.",
                style="yellow",
            )
        doctor.require(
            spec.task.kind if spec.browser_cdp is None else doctor.REMOTE,
            *(["bwrap"] if spec.sandbox == "bwrap" else []),
            *(["human"] if spec.view is not None else []),
        )
        check_output(spec.output)
        if spec.browser_cdp is not None:
            asyncio.run(check_endpoint(spec.browser_cdp))


def check_output(output: Path) -> None:
    """Run directories can be written there."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(output).free
        probe = output / ".write-probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"cannot be written to ({error.strerror})",
            file=output,
            field="--output",
            remedy="Choose a directory you may write to",
        ) from None
    if free < 200 * 1024 * 1024:
        raise InputError(
            f"only {free // 2**20} MiB are free",
            file=output,
            field="--output",
            remedy="Free at least 200 MiB or choose another directory",
        )
