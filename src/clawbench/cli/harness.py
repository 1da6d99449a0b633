"""`clawbench harness`: which agent programs can be put in front of a task."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from clawbench.cli.console import out, print_json
from clawbench.harnesses import get_harness, harness_names

app = typer.Typer(no_args_is_help=True, help="List the harnesses.")


@app.command("list")
def list_harnesses(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the harnesses that can be run, with what each can do."""
    found = [get_harness(name) for name in harness_names()]
    rows = [
        {"name": h.name, "version": h.version, "kinds": sorted(h.kinds), "summary": h.summary} for h in found
    ]
    if as_json:
        print_json(rows)
        return
    table = Table("harness", "version", "does", "about")
    for h in found:
        table.add_row(h.name, h.version or "", ", ".join(sorted(h.kinds)), h.summary)
    out.print(table)
