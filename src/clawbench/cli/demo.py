"""`clawbench demo`: the main job, offline, with nothing but this machine."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from clawbench.cli.choices import scripted_choice
from clawbench.cli.console import err, out, print_json
from clawbench.cli.doctor import ensure_ready
from clawbench.cli.live import perform_runs
from clawbench.cli.run import check_machine
from clawbench.cli.tables import run_row, show_runs
from clawbench.harnesses import get_harness
from clawbench.results import RunRecord
from clawbench.runner import RunSpec
from clawbench.tasks import Broken, Task, load_suite

SUITE = "demo"
POLICIES = {"solve": True, "wrong": False}
"""Each scripted policy, and whether the run should pass."""


def demo(
    output: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON on stdout.")] = False,
) -> None:
    """Run a web task and a coding task from start to finish, offline: no key, no daemon, no internet.

    The reference harness really drives a Chromium and really edits a repository, in the sandbox. Only the
    model is scripted: one policy solves each task, one gets it wrong, so that both verdicts are seen.
    """
    ensure_ready()
    batch = datetime.now().strftime("demo-%Y%m%d-%H%M%S")
    specs = [_spec(task, policy, output, batch) for task in _tasks() for policy in POLICIES]
    check_machine(specs)
    err.print(
        "The model in these runs is scripted: a policy file decides what it says. All else is real.",
        style="yellow",
    )
    finished = asyncio.run(perform_runs(specs))
    if as_json:
        print_json([{"directory": str(d.path), **r.model_dump(mode="json")} for d, r in finished])
    else:
        show_runs([run_row(directory, record) for directory, record in finished])
    if not as_expected([record for _, record in finished], specs):
        out.print("\nNot every run ended as it should have; `clawbench doctor` may say why.", style="red")
        raise typer.Exit(1)


def as_expected(records: list[RunRecord], specs: list[RunSpec]) -> bool:
    """All runs took place, the solving policies passed, the wrong ones failed by the agent's own fault."""
    if len(records) != len(specs):
        return False
    for record in records:
        should_pass = POLICIES[record.model.name.removeprefix("scripted-")]
        if record.verdict is None or record.error is not None or record.verdict.passed != should_pass:
            return False
    return True


def _tasks() -> list[Task]:
    found: list[Task] = []
    for entry in load_suite(SUITE):
        if isinstance(entry, Broken):
            raise entry.error
        found.append(entry)
    return sorted(found, key=lambda task: task.kind != "web")


def _spec(task: Task, policy: str, output: Path, batch: str) -> RunSpec:
    return RunSpec(
        task=task,
        model=scripted_choice(policy, task),
        harness=get_harness("reference"),
        output=output,
        batch=batch,
    )
