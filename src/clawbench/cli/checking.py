"""`clawbench harness check`."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from clawbench.cli.console import err, out, print_json
from clawbench.cli.live import say
from clawbench.cli.rootfs import ROOTFS_HELP, find_root
from clawbench.cli.run import check_output
from clawbench.errors import InputError
from clawbench.harnesses import get_harness, harness_names
from clawbench.models import ApiType
from clawbench.runner.checking import Checked, Finding, KindChecked, Status, check_harness
from clawbench.sandbox import Root

COLUMNS = ("work", "usage", "claim", "policy", "stop")


def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME[@VERSION]")] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every harness that there is.")] = False,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only this kind of task: coding or web.", metavar="KIND")
    ] = None,
    api: Annotated[
        ApiType | None, typer.Option(help="Check with this API instead of the one the harness speaks best.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Keep the run directories here; without it they are removed.")
    ] = None,
    rootfs: Annotated[Path | None, typer.Option(metavar="DIR", help=ROOTFS_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run harnesses at two tiny tasks with a scripted model, in the sandbox, and report what works.

    Coding: a line of a file is changed and a test decides. Web: a button is pressed and its request
    intercepted. Both: what the gateway counted, what the harness claims, whether a forbidden tool is
    refused and recorded, and whether a stop ends it in time with nothing left. Exit code 1 where
    anything failed; what is not installed is skipped, with the reason.
    """
    chosen = _chosen(names or [], every)
    kinds = _kinds(kind or [])
    with ExitStack() as resources:
        if output is None:
            output = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="clawbench-check-")))
        check_output(output)
        root = find_root(rootfs, output)
        checked = asyncio.run(_check_all(chosen, kinds, api, output.absolute(), root))
    if as_json:
        print_json([one.as_json() for one in checked])
    else:
        _show(checked)
    if any(one.failed for one in checked):
        raise typer.Exit(1)


async def _check_all(
    chosen: list[str], kinds: tuple[str, ...], api: ApiType | None, output: Path, root: Root | None
) -> list[Checked]:
    return [
        await check_harness(partial(get_harness, name), output, kinds=kinds, api=api, root=root, tell=say)
        for name in chosen
    ]


def _chosen(names: list[str], every: bool) -> list[str]:
    if bool(names) == every:
        raise InputError(
            "name harnesses, or give --all", field="NAME", remedy="`clawbench harness list` shows them"
        )
    chosen = harness_names() if every else names
    for name in chosen:
        get_harness(name)
    return chosen


def _kinds(given: list[str]) -> tuple[str, ...]:
    known = ("coding", "web")
    for kind in given:
        if kind not in known:
            raise InputError(f"there is no kind {kind!r}", field="--kind", remedy="Choose coding or web")
    return tuple(kind for kind in known if not given or kind in given)


def _short(finding: Finding | None) -> str:
    if finding is None or finding.status is Status.SKIPPED:
        return "–"
    return finding.status.value if finding.status is Status.FAILED else finding.detail.partition(":")[0]


def _remarks(found: KindChecked) -> list[str]:
    """What the table is too narrow for."""
    wrong = [f"{found.status.value}: {found.reason}"] if found.reason else []
    claim = found.findings.get("claim")
    return wrong + ([f"claim {claim.detail}"] if claim and ":" in claim.detail else [])


def _show(checked: list[Checked]) -> None:
    table = Table("harness", "kind", "result", *COLUMNS)
    for one in checked:
        for kind, found in one.kinds.items():
            cells = [_short(found.findings.get(name)) for name in COLUMNS]
            table.add_row(f"{one.name} {one.version or ''}", kind, found.status.value, *cells)
    out.print(table)
    for one in checked:
        for kind, found in one.kinds.items():
            for line in _remarks(found):
                text = f"{one.name}, {kind}: {line}"
                out.print(text, highlight=False, markup=False, soft_wrap=True)
    if any(one.failed for one in checked):
        err.print("With --output DIR the run directories are kept, to look at what happened.")
