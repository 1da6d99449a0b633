"""The commands and how their errors reach the user."""

from __future__ import annotations

import errno
import sys
from typing import Annotated, NoReturn

import typer

import clawbench
from clawbench.cli import doctor, harness, models, tasks
from clawbench.cli.console import err, never_choke
from clawbench.cli.demo import demo
from clawbench.cli.evaluate import evaluate
from clawbench.cli.gateway import gateway
from clawbench.cli.record import record
from clawbench.cli.replay import replay
from clawbench.cli.run import run
from clawbench.errors import ClawbenchError, InputError
from clawbench.given import PERMISSIONS

HELP = """How good, and how expensive, is this agent harness with this model, on real work?

A run puts one harness (an agent program) with one model in front of one task, in a sandbox. Everything is
recorded, every model call is metered, and the result is scored. Start with `clawbench demo`: it needs no key
and no network.
"""

app = typer.Typer(
    name="clawbench",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(run)
app.command("eval")(evaluate)
app.command()(replay)
app.command()(record)
app.command()(gateway)
app.command("doctor")(doctor.doctor)
app.add_typer(tasks.app, name="tasks")
app.add_typer(models.app, name="models")
app.add_typer(harness.app, name="harness")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"clawbench {clawbench.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Run the command; an error that was foreseen is one message and its exit code."""
    never_choke()
    try:
        app()
    except ClawbenchError as error:
        _end(error)
    except PermissionError as error:  # even asking whether a file is there may be forbidden
        _end(InputError("permission denied", file=error.filename, remedy=PERMISSIONS))
    except OSError as error:
        if error.errno not in (errno.ENAMETOOLONG, errno.ELOOP):
            raise
        _end(InputError(f"is no usable path ({error.strerror})", file=error.filename, remedy="Give another"))


def _end(error: ClawbenchError) -> NoReturn:
    err.print("error:", style="bold red", end=" ")
    err.print(str(error), highlight=False, soft_wrap=True, markup=False)
    sys.exit(error.exit_code)
