"""How a web run really ended: what the runner saw first, corrected by what the browser session left."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from clawbench.results import Interception, NotIntercepted, Reserve, RunDirectory, StopReason, record_text
from clawbench.runner.stops import Stop

CUT_OFF = Stop(StopReason.ERROR, "The run was cut off before its end")
"""What interception.json says as long as nothing else is known."""

BROKEN = frozenset({StopReason.ERROR, StopReason.BROWSER_CRASHED})
CERTAIN = BROKEN | {StopReason.INTERCEPTED, StopReason.CANCELLED}


def true_stop(stop: Stop, intercepted: bool, of_session: Stop | None, died: str | None) -> Stop:
    """What ended the agent's time.

    `of_session`: the end that the session told of, which an agent may have felt before we heard of it.
    `died`: why the session did not close in good order; what it had still to tell is then unknown.
    """
    if intercepted and (stop.reason is StopReason.AGENT_EXITED or stop.reason in BROKEN):
        return Stop(StopReason.INTERCEPTED, "The final request was intercepted as the agent's time ended")
    if of_session is not None and stop.reason is StopReason.AGENT_EXITED:
        return of_session
    if died is not None and stop.reason not in CERTAIN:
        return Stop(StopReason.ERROR, died)
    return stop


def read_interception(path: Path) -> Interception:
    adapter: TypeAdapter[Interception] = TypeAdapter(Interception)
    return adapter.validate_python(json.loads(path.read_bytes()))  # pydantic's own parser stops at 200 levels


def write_not_intercepted(run: RunDirectory, stop: Stop) -> None:
    """Say why there is no final request."""
    outcome = NotIntercepted(stop_reason=stop.reason, stop_description=stop.description)
    Reserve(run.reserve).write(run.interception, record_text(outcome))
