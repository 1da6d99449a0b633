"""Tables of finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.markup import escape
from rich.table import Column, Table

from clawbench.cli.console import out
from clawbench.harnesses.human import HUMAN
from clawbench.results import Isolation, Metered, RunDirectory, RunRecord, StopReason

MOST_FAILURES = 5
REPLAYED = "$0 replayed"
_ORDINARY = (
    *(StopReason.INTERCEPTED, StopReason.AGENT_EXITED),
    *(StopReason.CANCELLED, StopReason.ERROR),
)
"""Ends that need no words of their own; of an error the record's is told."""


@dataclass(frozen=True)
class RunRow:
    """What a table shows of one run."""

    directory: Path
    record: RunRecord

    @property
    def verdict(self) -> str:
        """`pass` or `fail` first, so that web and coding runs read alike; the exact word behind it."""
        verdict = self.record.verdict
        if verdict is None:
            return "none"
        short = "pass" if verdict.passed else "fail"
        if verdict.value in ("unjudged", "error", "timeout"):
            short = verdict.value
        return short if short == verdict.value else f"{short} ({verdict.value})"

    @property
    def cost(self) -> str:
        """What the model calls cost; nothing was asked where a person drove."""
        record = self.record
        if record.harness.name == HUMAN:
            return "none"
        only_replayed = record.replay is not None and record.replay.live_from is None
        return REPLAYED if only_replayed else cost_of(record.usage.measured)

    @property
    def title(self) -> str:
        """Task, harness and model, and how little was isolated where that is less than all."""
        parts = [self.record.harness.name, self.model]
        if self.record.isolation is not Isolation.FULL:
            parts.append(f"isolation: {self.record.isolation.value}")
        if self.record.replay is not None:
            parts.append(f"replay of {self.record.replay.of}")
        return f"{escape(self.record.task.name)}\n[dim]{escape(' · '.join(parts))}[/]"

    @property
    def model(self) -> str:
        """The model's name; a scripted one is always called so."""
        name = self.record.model.name
        return f"{name} (scripted)" if self.record.scripted and "scripted" not in name else name


def run_row(directory: RunDirectory, record: RunRecord) -> RunRow:
    return RunRow(directory.path, record)


def cost_of(metered: Metered) -> str:
    """What was paid; answers from a record cost nothing."""
    if not metered.replayed:
        return money(metered.cost_usd, metered.scripted)
    if metered.replayed == metered.calls:
        return REPLAYED
    return f"{money(metered.cost_usd, metered.scripted)} + replayed"


def money(cost: float | None, scripted: bool) -> str:
    """US dollars; a scripted model's are marked, an unknown price is `unknown`."""
    if cost is None:
        return "unknown"
    return f"${cost:.4f}" + ("*" if scripted else "")


def show_runs(rows: Sequence[RunRow]) -> None:
    """Print the runs, and below them what each verdict rests on and where the files are."""
    table = Table(Column("run", overflow="fold"), Column("verdict", no_wrap=True), box=box.SIMPLE_HEAD)
    for name in ("duration", "turns", "tokens", "cost"):
        table.add_column(name, no_wrap=True, justify="right")
    for row in rows:
        record, measured = row.record, row.record.usage.measured
        style = "green" if record.verdict and record.verdict.passed else "red"
        table.add_row(
            row.title,
            f"[{style}]{row.verdict}[/]",
            f"{record.duration_s or 0:.1f} s",
            str(measured.turns),
            f"{measured.usage.total:,}",
            row.cost,
        )
    out.print(table)
    if any(row.record.scripted for row in rows):
        out.print(
            "* scripted: a policy file played the model; tokens are estimates and the cost is notional."
        )
    for row in rows:
        _explain(row)


def _explain(row: RunRow) -> None:
    stopped = row.record.stop_reason.value if row.record.stop_reason else "nothing"
    ended = f"\n{row.verdict}, stopped by {stopped}: {row.directory}"
    out.print(ended, highlight=False, markup=False, soft_wrap=True)
    if row.record.stop_description and row.record.stop_reason not in _ORDINARY:
        out.print(f"  {row.record.stop_description}", highlight=False, markup=False, soft_wrap=True)
    for leak in row.record.leaks:
        out.print(f"  flagged: {leak}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    score = row.record.score
    failed = [check for check in score.checks if not check.ok] if score else []
    for check in failed[:MOST_FAILURES]:
        out.print(f"  {check.name}: {check.detail}", highlight=False, markup=False, soft_wrap=True)
    if len(failed) > MOST_FAILURES:
        out.print(f"  and {len(failed) - MOST_FAILURES} more in run.json")
    if score and not failed:
        out.print(f"  {score.explanation}", highlight=False, markup=False, soft_wrap=True)
