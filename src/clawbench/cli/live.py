"""Running specs one after another with a live line each: phase, actions, requests, tokens, cost, elapsed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence

from rich.live import Live
from rich.table import Table

from clawbench.cli.console import err
from clawbench.cli.tables import cost_of
from clawbench.results import RunDirectory, RunRecord
from clawbench.runner import Host, Progress, RunSpec, open_host, run_task


async def perform_runs(specs: Sequence[RunSpec]) -> list[tuple[RunDirectory, RunRecord]]:
    """Perform the runs in order; Ctrl-C or SIGTERM ends the current one in an orderly way."""
    async with open_host() as host:
        cancel_on_signals(host)
        done: list[tuple[RunDirectory, RunRecord]] = []
        lines = [Progress(f"{s.task.id} · {s.harness.name} · {s.model.name}") for s in specs]
        with Live(Lines(lines), console=err, refresh_per_second=4, transient=True) as live:
            for spec, progress in zip(specs, lines, strict=True):
                if host.cancelled.is_set():
                    break
                if not err.is_terminal:
                    progress.changed = plain_reporter(progress)
                progress.tell = say
                progress.restart()
                done.append(await run_task(host, spec, progress))
                live.refresh()
        return done


def cancel_on_signals(host: Host) -> None:
    """Ctrl-C or SIGTERM ends what the host does in an orderly way."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _cancel, host)


def _cancel(host: Host) -> None:
    if not host.cancelled.is_set():
        err.print("Ending the run; what was recorded is kept.")
    host.cancelled.set()


def say(text: str) -> None:
    """To the user, at once."""
    err.print(text, highlight=False, markup=False, soft_wrap=True)


class Lines:
    """Redrawn by rich: a line per run that has begun."""

    def __init__(self, lines: list[Progress]) -> None:
        self._lines = lines

    def __rich__(self) -> Table:
        table = Table("run", "phase", "elapsed", "actions", "requests", "turns", "tokens", "cost")
        for line in self._lines:
            if line.phase != "waiting":
                table.add_row(line.title, line.phase, f"{line.elapsed:.0f} s", *_figures(line))
        return table


def _figures(line: Progress) -> list[str]:
    m = line.metered
    return [
        str(line.actions),
        str(line.requests),
        str(m.turns),
        f"{m.usage.total:,}",
        cost_of(m),
    ]


def plain_reporter(line: Progress) -> Callable[[], None]:
    """Without a terminal: one line per phase."""
    seen: list[str] = []

    def report() -> None:
        if line.phase not in seen:
            seen.append(line.phase)
            err.print(f"{line.title}: {line.phase} ({line.elapsed:.1f} s)", highlight=False, markup=False)

    return report
