"""`clawbench replay`: a recorded run again, with the model answers of the record."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from clawbench.cli.choices import MODELS_HELP, choose_model
from clawbench.cli.elsewhere import CDP_HELP, find_endpoint
from clawbench.cli.fitting import check_known
from clawbench.cli.live import perform_runs
from clawbench.cli.replaying import announce, only_one
from clawbench.cli.run import check_machine, report_run
from clawbench.errors import InputError
from clawbench.gateway import Budget
from clawbench.harnesses import Harness, get_harness
from clawbench.models import SCRIPTED, Model
from clawbench.results import ReplayMode
from clawbench.runner import (
    IDLE_S,
    Future,
    Original,
    PatchFrom,
    RunSpec,
    original_task,
    read_original,
    recorded_model,
)
from clawbench.sandbox import Limits
from clawbench.tasks import Task, find_task


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a recorded run.")],
    replay_or_fail: Annotated[
        bool,
        typer.Option("--replay-or-fail", help="End at the first request that is not on record (default)."),
    ] = False,
    go_on: Annotated[
        bool,
        typer.Option("--go-on", help="Give a request that is not on record the nearest recorded answer."),
    ] = False,
    replay_then_live: Annotated[
        bool,
        typer.Option(
            "--replay-then-live",
            help="Ask the model from the first request on that is not on record, or where the record ends.",
        ),
    ] = False,
    record_only: Annotated[
        bool,
        typer.Option("--record-only", help="Ask the model for every answer: the same run, recorded anew."),
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="Where a model is asked: which (default: the recorded one).")
    ] = None,
    models: Annotated[Path | None, typer.Option(help=MODELS_HELP)] = None,
    task: Annotated[str | None, typer.Option(help="Where the task is now (default: as recorded).")] = None,
    browser_cdp: Annotated[str | None, typer.Option(metavar="URL", help=CDP_HELP)] = None,
    output: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    batch: Annotated[
        str | None, typer.Option(help="Name that groups runs (default: `replay-` with date and time).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON on stdout.")] = False,
) -> None:
    """Run a recorded run's harness on its task again, with the model answers of its record: offline and free.

    Requests are matched by what they say: ids, dates, times, ports, temporary paths and pictures do not
    count. The first request that says something else is shown as a diff. RUN stays as it is; the new run
    directory says in run.json what it is a replay of. See docs/replay.md.

    Exit code 0: came to its end as asked. 1: diverged, ended early, or broke. 2: something given cannot be
    used, such as a damaged record; nothing was started. 130: cancelled.
    """
    only_one(
        replay_or_fail=replay_or_fail, go_on=go_on, replay_then_live=replay_then_live, record_only=record_only
    )
    original = read_original(run)
    found = original_task(original) if task is None else find_task(task)
    check_known(found)
    harness = get_harness(original.record.harness.name)
    live = replay_then_live or record_only
    if model is not None and not live:
        raise InputError(
            "is not asked in a replay", field="--model", remedy="Leave it out, or add --replay-then-live"
        )
    chosen = _live_model(original, model, models, found, harness) if live else recorded_model(original)
    mode = ReplayMode.GO_ON if go_on else ReplayMode.THEN_LIVE if live else ReplayMode.OR_FAIL
    replaying = None if record_only else announce(original, mode, found, harness, chosen)
    options = original.options
    spec = RunSpec(
        task=found,
        model=chosen,
        harness=harness,
        output=output,
        batch=batch or datetime.now().strftime("replay-%Y%m%d-%H%M%S"),
        sandbox=original.record.sandbox,
        budget=Budget(options.max_cost_usd, options.max_tokens, options.max_calls),
        limits=Limits(memory_mb=options.memory_mb or Limits.memory_mb),
        time_limit_s=options.time_limit_s,
        idle_s=options.idle_s or IDLE_S,
        max_turns=options.max_turns,
        browser_cdp=find_endpoint(browser_cdp, found) if browser_cdp or options.browser_elsewhere else None,
        replay=replaying,
        seeds=original.record.seeds,
        patch_from=PatchFrom(options.patch_from),
        future=Future(options.future),
    )
    _check_browser(original, spec)
    check_machine([spec])
    ((run_dir, record),) = asyncio.run(perform_runs([spec]))
    report_run(run_dir, record, as_json=as_json)


def _live_model(
    original: Original, name: str | None, models: Path | None, task: Task, harness: Harness
) -> Model:
    """The model to ask: the one given, else the one that was recorded, with today's keys."""
    record = original.record
    if name is None and record.scripted:
        policy = str(record.model_settings.get("base_url", "")).removeprefix(SCRIPTED).removesuffix(".yaml")
        if not (task.directory / "policies" / f"{policy}.yaml").is_file():
            raise InputError(
                f"is missing, and the record does not say where the policy {policy!r} is",
                field="--model",
                remedy="Add --model scripted:PATH",
            )
        name = f"{SCRIPTED}{policy}"
    return choose_model(name or record.model.name, models, task, harness)


def _check_browser(original: Original, spec: RunSpec) -> None:
    if original.options.browser_elsewhere and spec.browser_cdp is None:
        raise InputError(
            "is missing: the recorded run used a browser that runs elsewhere",
            field="--browser-cdp",
            remedy="Give the address of such a browser",
        )
