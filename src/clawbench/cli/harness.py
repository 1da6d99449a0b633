"""`clawbench harness`: which agent programs can be put in front of a task."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from clawbench.cli.checking import check
from clawbench.cli.console import out, print_json
from clawbench.cli.installing import install, remove_harness, verify
from clawbench.cli.starting import new
from clawbench.harnesses import Harness, get_harness, harness_names
from clawbench.harnesses.runtimes.inventory import installed_versions, parts_of
from clawbench.places import cache_directory

app = typer.Typer(
    no_args_is_help=True, help="List, check and write harnesses, install and verify their programs."
)
app.command()(install)
app.command()(verify)
app.command("remove")(remove_harness)
app.command()(check)
app.command()(new)


@app.command("list")
def list_harnesses(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the harnesses that can be run, with what each can do and which versions are installed."""
    found = [get_harness(name) for name in harness_names()]
    rows = [
        {
            "name": h.name,
            "version": h.version,
            "kinds": sorted(h.kinds),
            "summary": h.summary,
            "installed": installed_versions(h, cache_directory()) if parts_of(h) else None,
        }
        for h in found
    ]
    if as_json:
        print_json(rows)
        return
    table = Table("harness", "version", "installed", "does", "about")
    for h in found:
        table.add_row(h.name, h.version or "", _installed(h), ", ".join(sorted(h.kinds)), h.summary)
    out.print(table)


def _installed(harness: Harness) -> str:
    """`yes`, or which versions are there instead."""
    if not parts_of(harness):
        return "built in"
    versions = installed_versions(harness, cache_directory())
    if harness.version in versions:
        return ", ".join(["yes", *(version for version in versions if version != harness.version)])
    return ", ".join(versions) or "no"
