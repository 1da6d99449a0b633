"""How a metering session is shown: to people, and to scripts."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from rich.live import Live
from rich.table import Table

from clawbench.cli.console import err
from clawbench.cli.tables import money
from clawbench.gateway import Session
from clawbench.results import Metered, StopReason


class Shown(Protocol):
    """What is told of a session, and when."""

    def begin(self, session: Session) -> None: ...

    def live(self, session: Session) -> AbstractContextManager[object]:
        """Shown while it lasts."""
        ...

    def totals(self, session: Session) -> None:
        """After each call."""
        ...

    def stopped(self, reason: StopReason, why: str) -> None:
        """A cap was reached, the model cannot be reached, or the record cannot be kept."""
        ...

    def end(self, session: Session) -> None: ...


class Screen:
    """For people: a table that is kept up to date, or a line per call where there is no terminal."""

    def begin(self, session: Session) -> None:
        speaks = session.meter.model.api_type.value
        name = session.meter.model.name
        _say(f"{name} speaks {speaks}. Base URLs (a client of another API is refused):")
        for api, url in session.base_urls().items():
            _say(f"  {api:22} {url}" + ("   ◄" if api == speaks else ""))
        _say(f"Token: {session.meter.token}\n")
        for variable, value in session.environment().items():
            _say(f"  export {variable}={shlex.quote(value)}")
        _say(f"\nRecord: {session.run.path}\nCtrl-C ends it.\n")

    def live(self, session: Session) -> AbstractContextManager[object]:
        return _live(session) if err.is_terminal else nullcontext()

    def totals(self, session: Session) -> None:
        if not err.is_terminal:
            _say(_figures(session.meter.metered))

    def stopped(self, reason: StopReason, why: str) -> None:
        _say(
            f"{reason.value}: {why}" + (". Further calls are refused." if reason is StopReason.BUDGET else "")
        )

    def end(self, session: Session) -> None:
        _say(_figures(session.meter.metered))
        _say(f"Record: {session.run.path}")


class JsonEvents:
    """For scripts."""

    def begin(self, session: Session) -> None:
        _emit(
            "listening",
            model=session.meter.model.name,
            api_type=session.meter.model.api_type.value,
            base_urls=session.base_urls(),
            token=session.meter.token,
            environment=session.environment(),
            directory=str(session.run.path),
        )

    def live(self, session: Session) -> AbstractContextManager[object]:
        return nullcontext()

    def totals(self, session: Session) -> None:
        _emit("totals", measured=session.meter.metered.model_dump(mode="json"))

    def stopped(self, reason: StopReason, why: str) -> None:
        _emit("stopped", reason=reason.value, description=why)

    def end(self, session: Session) -> None:
        _emit("ended", **session.summary(), directory=str(session.run.path))


def _live(session: Session) -> Live:
    def table() -> Table:
        metered, usage = session.meter.metered, session.meter.metered.usage
        made = Table(
            "calls", "under way", "errors", "retries", "input", "cache read", "cache write", "output", "cost"
        )
        made.add_row(
            *(
                str(n)
                for n in (metered.calls, session.meter.calls_under_way, metered.errors, metered.retries)
            ),
            *(f"{n:,}" for n in (usage.input, usage.cache_read, usage.cache_write, usage.output)),
            _cost(metered),
        )
        return made

    return Live(get_renderable=table, console=err, refresh_per_second=4, transient=True)


def _figures(metered: Metered) -> str:
    usage = metered.usage
    parts = [
        f"{metered.calls} calls",
        f"{metered.errors} errors",
        f"{metered.retries} retries",
        f"{usage.input:,} input",
        f"{usage.cache_read:,} cache read",
        f"{usage.cache_write:,} cache write",
        f"{usage.output:,} output ({usage.reasoning:,} reasoning)",
        f"cost {_cost(metered)}",
    ]
    return " · ".join(parts)


def _cost(metered: Metered) -> str:
    missing = f" (without {', '.join(metered.unpriced)})" if metered.unpriced else ""
    return money(metered.cost_usd, metered.scripted) + missing


def _say(text: str) -> None:
    err.print(text, highlight=False, markup=False, soft_wrap=True)


def _emit(event: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}, ensure_ascii=False) + "\n")
    sys.stdout.flush()
