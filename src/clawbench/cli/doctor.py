"""`clawbench doctor`: what this machine has, needs, and how to get it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich import box
from rich.table import Column, Table

from clawbench.cli.console import err, out, print_json
from clawbench.doctor import PURPOSES, Finding, Part, Status, examine, fix
from clawbench.errors import InputError

_MARKS = {Status.OK: "[green]ok[/]", Status.WARNING: "[yellow]note[/]", Status.MISSING: "[red]missing[/]"}


def doctor(
    repair: Annotated[
        bool, typer.Option("--fix", help="Install what is missing through apt (as root or with sudo).")
    ] = False,
    also_for: Annotated[
        list[str] | None,
        typer.Option("--for", help="Count what is needed for this as required: human, containers, mini-swe."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check each part that Clawbench needs: why it is needed, what was found, how to get it.

    Exit code 0: everything required is there. 1: something required is missing.
    """
    findings = _examine_for(also_for or [])
    if repair and _missing(findings):
        fix(findings, say=lambda line: err.print(line, highlight=False, markup=False))
        findings = _examine_for(also_for or [])
    if as_json:
        print_json([_row(part, finding) for part, finding in findings])
    else:
        _show(findings)
    if _missing(findings):
        raise typer.Exit(1)


def _examine_for(purposes: list[str]) -> list[tuple[Part, Finding]]:
    if unknown := set(purposes) - PURPOSES:
        raise InputError(
            f"nothing is needed for {', '.join(sorted(unknown))}",
            field="--for",
            remedy=f"Choose of {', '.join(sorted(PURPOSES))}",
        )
    return [
        (replace(part, required=part.required or bool(part.needed_for & set(purposes))), finding)
        for part, finding in examine()
    ]


def ensure_ready() -> None:
    """Before `demo`: install what is missing if we may; say plainly what is still missing."""
    findings = examine()
    if not _missing(findings):
        return
    fix(findings, say=lambda line: err.print(line, highlight=False, markup=False))
    findings = examine()
    if _missing(findings):
        _show([entry for entry in findings if entry in _missing(findings)])
        raise typer.Exit(2)


def _missing(findings: list[tuple[Part, Finding]]) -> list[tuple[Part, Finding]]:
    return [(p, f) for p, f in findings if p.required and f.status is Status.MISSING]


def _row(part: Part, finding: Finding) -> dict[str, object]:
    return {
        "name": part.name,
        "status": finding.status.value,
        "required": part.required,
        "why": part.why,
        "found": finding.detail,
        "remedy": finding.remedy,
    }


def _show(findings: list[tuple[Part, Finding]]) -> None:
    table = Table("part", "", Column("found", overflow="fold"), "why it is needed", box=box.SIMPLE_HEAD)
    for part, finding in findings:
        mark = _MARKS[finding.status]
        if finding.status is Status.MISSING and not part.required:
            mark = "[yellow]absent[/]"
        table.add_row(part.name, mark, finding.detail, part.why)
    out.print(table)
    for part, finding in findings:
        if finding.status is not Status.OK and finding.remedy:
            out.print(f"{part.name}: {finding.remedy}", markup=False, highlight=False, soft_wrap=True)
