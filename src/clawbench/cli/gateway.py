"""`clawbench gateway`: meter an agent that runs wherever it runs."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from clawbench.cli.choices import MODELS_HELP, named_model
from clawbench.cli.console import err
from clawbench.cli.metering import JsonEvents, Screen, Shown
from clawbench.cli.run import check_output
from clawbench.errors import ClawbenchError
from clawbench.gateway import Budget, Session, is_loopback, metering
from clawbench.models import Model
from clawbench.results import StopReason


def gateway(
    model: Annotated[
        str, typer.Option(help="A name from the models file, or `scripted:POLICY` for a scripted stand-in.")
    ],
    models: Annotated[Path | None, typer.Option(help=MODELS_HELP)] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    output: Annotated[Path, typer.Option(help="Where the record goes, a directory per session.")] = Path(
        "metered"
    ),
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars all calls may cost.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that may be used, all kinds.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Model calls that may be made.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines on stdout.")] = False,
) -> None:
    """Meter an agent: give it this address and token instead of the model's own, and see what it uses.

    The model's key stays here. A cap that is reached refuses further calls (402). Ctrl-C ends it: a summary
    is shown, and written beside every call and the conversation. Exit code 1: the record could not be kept.
    """
    chosen = named_model(model, models)
    check_output(output)
    budget = Budget(cost_usd=max_cost, tokens=max_tokens, calls=max_calls)
    if not is_loopback(host):
        err.print(f"Whoever reaches {host} and has the token can use this model.", style="yellow")
    asyncio.run(_serve(chosen, output, host, port, budget, JsonEvents() if as_json else Screen()))


async def _serve(model: Model, output: Path, host: str, port: int, budget: Budget, shown: Shown) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    told = _AfterEachCall(shown)
    async with metering(model, output, host=host, port=port, budget=budget, on_change=told) as session:
        shown.begin(session)
        told.session = session
        with shown.live(session):
            watching = asyncio.ensure_future(_watch(session, shown))
            ending = asyncio.ensure_future(ended.wait())
            await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
        broken = watching.result() if watching.done() else None
        watching.cancel()
        ending.cancel()
    shown.end(session)
    if broken is not None:
        raise ClawbenchError(broken)


async def _watch(session: Session, shown: Shown) -> str:
    """Tell each kind of stop once; returns what ends the session: a record with gaps is none."""
    told = set()
    while True:
        reason, why = await session.meter.stop_signal()
        if reason not in told:
            shown.stopped(reason, why)
            told.add(reason)
        if reason is StopReason.ERROR:
            return why
        session.meter.go_on()


class _AfterEachCall:
    """Tells the totals whenever a call has been counted."""

    def __init__(self, shown: Shown) -> None:
        self.session: Session | None = None
        self._shown, self._told = shown, 0

    def __call__(self) -> None:
        if self.session is not None and self.session.meter.metered.calls != self._told:
            self._told = self.session.meter.metered.calls
            self._shown.totals(self.session)
