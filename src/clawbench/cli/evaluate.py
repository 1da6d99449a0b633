"""`clawbench eval`: the verdict on patches, apart from the runs that made them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from clawbench import doctor
from clawbench.cli.console import as_json_text, err, out
from clawbench.cli.fitting import check_sandbox, refuse_with_swebench, refuse_without_dataset
from clawbench.cli.live import cancel_on_signals
from clawbench.cli.run import check_output
from clawbench.cli.selecting import (
    CASES_HELP,
    DATASET_HELP,
    LANGUAGE_HELP,
    MIRROR_HELP,
    SUITE_HELP,
    Selection,
)
from clawbench.cli.suite import CANCELLED_EXIT
from clawbench.errors import InputError
from clawbench.results import Verdict, write_json
from clawbench.results.layout import claim
from clawbench.runner import open_host
from clawbench.runner.evaluation import SKIPPED, Evaluation, Judged
from clawbench.runner.official import OfficialEvaluator
from clawbench.tasks import CodingTask
from clawbench.tasks.predictions import Prediction, read_predictions


class Evaluator(StrEnum):
    OWN = "own"
    SWEBENCH = "swebench"


def evaluate(
    predictions: Annotated[
        Path | None,
        typer.Argument(help="Predictions in SWE-bench's shape (JSONL or JSON), ours or another's."),
    ] = None,
    suite: Annotated[str | None, typer.Option(help=SUITE_HELP)] = None,
    cases: Annotated[str | None, typer.Option(metavar="GLOB", help=CASES_HELP)] = None,
    language: Annotated[str | None, typer.Option(help=LANGUAGE_HELP)] = None,
    dataset: Annotated[list[str] | None, typer.Option(help=DATASET_HELP)] = None,
    mirror: Annotated[list[Path] | None, typer.Option(metavar="DIR", help=MIRROR_HELP)] = None,
    gold: Annotated[bool, typer.Option("--gold", help="Judge the tasks' own fixes.")] = False,
    empty: Annotated[bool, typer.Option("--empty", help="Judge an empty patch for each task.")] = False,
    evaluator: Annotated[Evaluator, typer.Option(help="Who judges.")] = Evaluator.OWN,
    workers: Annotated[int, typer.Option(min=1, help="How many at the same time.")] = 8,
    output: Annotated[Path, typer.Option(help="Where results go; what is there is not judged again.")] = Path(
        "evals"
    ),
    fresh: Annotated[bool, typer.Option("--fresh", help="Judge again what was judged before.")] = False,
    sandbox: Annotated[
        str | None, typer.Option(help="`bwrap`, or `none` for no isolation (default: bwrap).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per prediction, and the totals last.")
    ] = False,
) -> None:
    """Judge predictions: apply each patch to a fresh checkout, put the tests over it, run them.

    Exit code 0: everything was judged, whatever the verdicts. 1: something could not be judged (verdict
    `error`). 2: something given cannot be used. 130: cancelled; what was judged is kept.
    """
    selection = Selection(suite, cases, language, dataset or [], mirror or [])
    source = predictions.stem if predictions else f"{suite or 'dataset'}-{'gold' if gold else 'empty'}"
    if evaluator is Evaluator.SWEBENCH:
        refuse_with_swebench({"--sandbox": sandbox is not None, "--mirror": mirror})
        wanted, rows = _rows_to_judge(predictions, selection, gold=gold, empty=empty)
        directory = _claim(output, source)
        judged, cancelled = asyncio.run(_judge_officially(wanted, rows, directory, workers, fresh))
        for entry in judged:
            (_print_object if as_json else _print_line)(entry)
    else:
        sandbox = "bwrap" if sandbox is None else sandbox
        check_sandbox(sandbox)
        refuse_without_dataset(mirror, dataset)
        wanted, tasks = _what_to_judge(predictions, selection, gold=gold, empty=empty)
        doctor.require("coding", *(["bwrap"] if sandbox == "bwrap" else []))
        directory = _claim(output, source)
        judged, cancelled = asyncio.run(
            _judge(wanted, tasks, directory, sandbox=sandbox, workers=workers, fresh=fresh, as_json=as_json)
        )
    totals = summary(judged)
    write_json(directory / "report.json", {**totals, "instances": [entry.as_json() for entry in judged]})
    _show(judged, totals, as_json=as_json)
    if cancelled:
        raise typer.Exit(CANCELLED_EXIT)
    if totals[Verdict.ERROR.value]:
        raise typer.Exit(1)


def _claim(output: Path, source: str) -> Path:
    """Where the results go, once it is known that there is something to judge."""
    check_output(output)
    return claim(output, source.encode("utf-8", "backslashreplace").decode())


def _what_to_judge(
    file: Path | None, selection: Selection, *, gold: bool, empty: bool
) -> tuple[list[Prediction], dict[str, CodingTask]]:
    if (file is not None) + gold + empty != 1:
        raise InputError(
            "say what to judge", field="PREDICTIONS", remedy="Give a predictions file, --gold or --empty"
        )
    if file is None:
        tasks = selection.coding_tasks()
        name = "gold" if gold else "empty"
        wanted = [
            Prediction(
                instance_id=task, model_patch=tasks[task].patch if gold else "", model_name_or_path=name
            )
            for task in tasks
        ]
        return wanted, tasks
    predicted = selection.filter(read_predictions(file))
    return predicted, selection.coding_tasks([entry.instance_id for entry in predicted])


def _rows_to_judge(
    file: Path | None, selection: Selection, *, gold: bool, empty: bool
) -> tuple[list[Prediction], dict[str, dict[str, Any]]]:
    """For an evaluator that takes rows as they are; it needs no mirror and no recipe."""
    if (file is not None) + gold + empty != 1 or not selection.datasets:
        raise InputError(
            "say what to judge",
            field="--dataset",
            remedy="SWE-bench's evaluator needs --dataset, and a predictions file, --gold or --empty",
        )
    rows = selection.rows()
    if file is not None:
        wanted = selection.filter(read_predictions(file))
    else:
        name = "gold" if gold else "empty"
        wanted = [
            Prediction(instance_id=row.instance_id, model_patch=row.patch * gold, model_name_or_path=name)
            for row in rows.values()
        ]
    selection.require_known([entry.instance_id for entry in wanted], rows)
    return wanted, {
        entry.instance_id: rows[entry.instance_id].model_dump(by_alias=True, mode="json") for entry in wanted
    }


async def _judge(
    wanted: Sequence[Prediction],
    tasks: dict[str, CodingTask],
    directory: Path,
    *,
    sandbox: str,
    workers: int,
    fresh: bool,
    as_json: bool,
) -> tuple[list[Judged], bool]:
    async with open_host() as host:
        cancel_on_signals(host)
        evaluation = Evaluation(
            host, directory, sandbox, workers, fresh, done=_print_object if as_json else _print_line
        )
        return await evaluation.judge_all(wanted, tasks), host.cancelled.is_set()


async def _judge_officially(
    wanted: Sequence[Prediction],
    rows: dict[str, dict[str, Any]],
    directory: Path,
    workers: int,
    fresh: bool,
) -> tuple[list[Judged], bool]:
    async with open_host() as host:
        cancel_on_signals(host)
        evaluator = OfficialEvaluator(host, directory.absolute() / "swebench", workers, fresh)
        return await evaluator.judge_all(wanted, rows), host.cancelled.is_set()


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """How many of each verdict; `total` counts all that were asked for, the skipped included."""
    counts = Counter(entry.verdict for entry in judged)
    return {
        "resolved": counts[Verdict.RESOLVED.value],
        "total": len(judged),
        "skipped": counts[SKIPPED],
        **{
            verdict.value: counts[verdict.value]
            for verdict in (Verdict.UNRESOLVED, Verdict.APPLY_FAILED, Verdict.ERROR, Verdict.TIMEOUT)
        },
    }


def _print_object(judged: Judged) -> None:
    sys.stdout.write(as_json_text(judged.as_json()) + "\n")
    sys.stdout.flush()


def _print_line(judged: Judged) -> None:
    again = ", judged before" if judged.reused else ""
    err.print(f"{judged.instance_id}: {judged.verdict}{again}", highlight=False, markup=False)


def _show(judged: Sequence[Judged], totals: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(totals) + "\n")
        return
    table = Table("task", "model", "verdict", "why")
    for entry in judged:
        table.add_row(*map(Text, (entry.instance_id, entry.model, entry.verdict, entry.explanation[:200])))
    out.print(table)
    out.print(f"{totals['resolved']} of {totals['total']} resolved, {totals['skipped']} skipped")
