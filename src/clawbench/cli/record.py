"""`clawbench record`: a person does a task in their own browser, and the extension records it."""

from __future__ import annotations

import asyncio
import math
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from clawbench.cli.console import err
from clawbench.cli.fitting import LONGEST_MIN, check_known
from clawbench.cli.live import perform_runs
from clawbench.cli.run import check_output, report_run
from clawbench.environments.browser.ports import RECORDER as PORT
from clawbench.errors import InputError
from clawbench.harnesses.human import HUMAN, HumanHarness
from clawbench.models import absent_model
from clawbench.runner import RunSpec
from clawbench.tasks import WebTask, find_task


def record(
    task: Annotated[str, typer.Argument(help="A task directory, `suite/id`, or an id.")],
    output: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    batch: Annotated[str | None, typer.Option(help="Name that groups runs (default: date and time).")] = None,
    port: Annotated[
        int, typer.Option(min=1024, max=65535, help="Port of the recorder API on 127.0.0.1.")
    ] = PORT,
    launch: Annotated[
        bool, typer.Option("--launch", help="Open a browser with a fresh profile, ready to record.")
    ] = False,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0.001, max=LONGEST_MIN, help="Minutes for the task (default: the task's)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON on stdout.")] = False,
) -> None:
    """Do a web task yourself, in your own Chrome or Chromium: a human baseline without any container.

    An extension records what you do and holds the final request back. It cannot promise what a sandbox can:
    the record says `isolation: none`. See docs/extension.md.

    Exit codes as for `clawbench run`.
    """
    # What records takes long to import, and no other command needs it.
    from clawbench.environments.browser.extension.settings import ExtensionSettings

    found = find_task(task)
    if not isinstance(found, WebTask):
        raise InputError(
            f"is a {found.kind} task", field="TASK", remedy="Only web tasks can be recorded in a browser"
        )
    check_known(found)
    _check(found, launch=launch)
    spec = RunSpec(
        task=found,
        model=absent_model(HUMAN),
        harness=HumanHarness(),
        output=output,
        batch=batch or datetime.now().strftime("%Y%m%d-%H%M%S"),
        sandbox="none",
        time_limit_s=None if time_limit is None else time_limit * 60,
        idle_s=math.inf,
        extension=ExtensionSettings(port=port, launch=launch),
    )
    check_output(output)
    _warn(found)
    report_run(*asyncio.run(perform_runs([spec]))[0], as_json=as_json)


def _check(task: WebTask, *, launch: bool) -> None:
    from clawbench.environments.browser.extension.launching import has_screen

    if task.site is not None and not launch:
        raise InputError(
            f"happens on a bundled site ({task.site}), which your own browser cannot reach",
            field="TASK",
            remedy="Add --launch, or use `clawbench run --human`",
        )
    if launch and not has_screen():
        raise InputError(
            "needs a screen, and neither DISPLAY nor WAYLAND_DISPLAY is set",
            field="--launch",
            remedy="Run it in a graphical session, or use `clawbench run --human`",
        )


def _warn(task: WebTask) -> None:
    schema = task.eval_schema
    err.print("Nothing is isolated: this is your browser, with your files and network.", style="yellow")
    if schema.body or schema.params:
        err.print(
            f"This task's final request is told by its content, which rules of a browser do not see: every "
            f"{schema.method} to a matching address will be blocked. `clawbench run --human` blocks exactly.",
            style="yellow",
        )
