"""A browser elsewhere has a clock of its own: how far it is off, and times of its set right."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, Message

TRIES = 5
SMALLEST_S = 0.02
"""Less than this (or than half an answer's way) is as likely the network's doing."""


async def clock_ahead(cdp: CdpConnection, target: str) -> float:
    """Seconds by which the browser's clock is ahead of ours, from the quickest of some answers."""
    attached = await cdp.send("Target.attachToTarget", {"targetId": target, "flatten": True})
    session = attached["sessionId"]
    answers = [await _ask(cdp, session) for _ in range(TRIES)]
    cdp.notify("Target.detachFromTarget", {"sessionId": session})
    took, ahead = min(answers)
    return ahead if abs(ahead) > max(SMALLEST_S, took / 2) else 0.0


async def _ask(cdp: CdpConnection, session: str) -> tuple[float, float]:
    """How long the answer took, and what it comes to if both ways took the same."""
    asked = time.time()
    reply = await cdp.send("Runtime.evaluate", {"expression": "Date.now()", "returnByValue": True}, session)
    answered = time.time()
    return answered - asked, float(reply["result"]["value"]) / 1000 - (asked + answered) / 2


def set_right(message: Message, binding: str, ahead: float) -> None:
    """Turn times of the browser's clock that get into the record into times of ours."""
    correct = CORRECTIONS.get(message["method"])
    if correct is not None:
        correct(message["params"], binding, ahead)


def _sent(params: dict[str, Any], _binding: str, ahead: float) -> None:
    if params.get("wallTime"):
        params["wallTime"] -= ahead


def _reported(params: dict[str, Any], binding: str, ahead: float) -> None:
    if params["name"] == binding:
        seen = json.loads(params["payload"])
        if "time" in seen:
            params["payload"] = json.dumps(seen | {"time": seen["time"] - ahead * 1000})


CORRECTIONS: dict[str, Callable[[dict[str, Any], str, float], None]] = {
    "Network.requestWillBeSent": _sent,
    "Network.webSocketWillSendHandshakeRequest": _sent,
    "Runtime.bindingCalled": _reported,
}
