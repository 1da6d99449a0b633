"""`clawbench harness new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawbench.cli.console import out
from clawbench.extras import install_line
from clawbench.harnesses.starting import write_package


def new(
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits, hyphens.")],
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where to write it (default: ./clawbench-NAME).")
    ] = None,
) -> None:
    """Write a package with a new harness: an adapter, a small agent and a test, which pass as they are."""
    place = directory or Path(f"clawbench-{name}")
    for path in write_package(name, place):
        out.print(str(path), highlight=False, markup=False, soft_wrap=True)
    out.print(
        f"Next: `{install_line('-e', str(place))}`, then `clawbench harness check {name}`.",
        markup=False,
        soft_wrap=True,
    )
