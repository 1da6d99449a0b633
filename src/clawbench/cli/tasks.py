"""`clawbench tasks`: what there is to do, and whether it is well formed."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from clawbench.cli.console import err, out, print_json
from clawbench.cli.fitting import check_known
from clawbench.cli.selecting import CASES_HELP, DATASET_HELP, LANGUAGE_HELP, OTHER_ROWS, SUITE_HELP, Selection
from clawbench.errors import InputError
from clawbench.results import RunRecord
from clawbench.tasks import (
    BUNDLED,
    Broken,
    CodingTask,
    bundled_suites,
    find_task,
    load_task,
    task_schema,
)
from clawbench.tasks.suites import Member

app = typer.Typer(no_args_is_help=True, help="List, show and check tasks; print their JSON Schemas.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


class SchemaKind(StrEnum):
    WEB = "web"
    CODING = "coding"
    TASK = "task"
    RUN = "run"


@app.command("list")
def list_tasks(
    suite: Annotated[str | None, typer.Option(help=SUITE_HELP)] = None,
    language: Annotated[str | None, typer.Option(help=LANGUAGE_HELP)] = None,
    cases: Annotated[str | None, typer.Option(metavar="GLOB", help=CASES_HELP)] = None,
    dataset: Annotated[list[str] | None, typer.Option(help=DATASET_HELP)] = None,
    as_json: Json = False,
) -> None:
    """List the tasks; a broken one is listed with what is wrong.

    Listed instances, as those of `swe`, have their rows in a dataset; with --dataset its rows are listed.
    """
    selection = Selection(suite, cases, language, dataset or ())
    rows = _dataset_rows(selection) if dataset else [_row(member) for member in selection.members()]
    if as_json:
        print_json(rows)
        return
    table = Table("suite", "task", "kind", "language", "minutes", "about")
    for row in rows:
        cells = (row[key] for key in ("suite", "id", "kind", "language", "time_limit", "about"))
        table.add_row(*(Text(str(cell)) for cell in cells))
    out.print(table)
    out.print(f"{len(rows)} tasks")


def _row(member: Member) -> dict[str, Any]:
    entry = member.task
    row: dict[str, Any] = {"suite": member.suite, "id": member.id, "kind": "coding"}
    row |= {"language": member.language, "repo": member.repo, "dataset": member.dataset, "time_limit": ""}
    if isinstance(entry, Broken):
        return row | {"kind": "broken", "about": str(entry.error)}
    if entry is None:
        return row | {"about": f"{member.repo}, row in {member.dataset}"}
    text = entry.problem_statement if isinstance(entry, CodingTask) else entry.instruction
    about = text.strip().splitlines()[0][:100]
    return row | {"kind": entry.kind, "time_limit": entry.time_limit, "about": about}


def _dataset_rows(selection: Selection) -> list[dict[str, Any]]:
    return [
        {
            **{"suite": selection.suite or OTHER_ROWS, "id": row.instance_id, "kind": "coding"},
            **{"language": selection.language_of(row), "repo": row.repo, "dataset": None, "time_limit": ""},
            "about": next(iter(row.problem_statement.strip().splitlines()), "")[:100],
        }
        for row in selection.rows().values()
    ]


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="A task directory, `suite/id`, or an id.")],
    as_json: Json = False,
) -> None:
    """Show one task as the benchmark sees it, with what is kept from the agent."""
    found = find_task(task)
    fields = found.model_dump(mode="json", by_alias=True, exclude_none=True)
    if as_json:
        print_json({"suite": found.suite, "id": found.id, "kind": found.kind, **fields})
        return
    out.print(f"[bold]{escape(f'{found.suite}/{found.id}')}[/] ({found.kind})", end="  ", highlight=False)
    out.print(str(found.directory), markup=False, soft_wrap=True)
    for key, value in fields.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        out.print(f"\n{key}", style="bold", markup=False, highlight=False)
        out.print(text, markup=False, highlight=False)


@app.command()
def validate(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Task directories or suites; all bundled ones by default.")
    ] = None,
) -> None:
    """Check tasks; every broken one is named with file, field and remedy, and the exit code is 2."""
    good, broken = 0, 0
    for directory in _task_directories(paths or [BUNDLED / name for name in bundled_suites()]):
        try:
            check_known(load_task(directory))
            good += 1
        except InputError as error:
            broken += 1
            err.print(str(error), markup=False, highlight=False, soft_wrap=True)
    out.print(f"{good} valid, {broken} broken")
    if broken or not good:
        raise typer.Exit(2)


def _task_directories(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        # These ask of odd paths, too, without an error: loading one says what is wrong with it.
        if not os.path.isdir(path) or os.path.lexists(path / "task.json"):
            found.append(path)
        else:
            found.extend(sorted(p.parent for p in path.rglob("task.json")))
    return found


@app.command()
def schema(
    kind: Annotated[SchemaKind, typer.Argument(help="Which schema.")] = SchemaKind.TASK,
) -> None:
    """Print the JSON Schema of task.json (web, coding, or both) or of run.json, for editors."""
    if kind is SchemaKind.RUN:
        print_json(RunRecord.model_json_schema())
    else:
        print_json(task_schema(None if kind is SchemaKind.TASK else kind.value))
