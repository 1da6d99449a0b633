"""Which faults there are, and a schedule of them that a seed makes again. Pure."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass

BROKEN_BROWSER = frozenset({"browser_crashed"})
BROKEN_SESSION = frozenset({"error"})
CUT_OFF = BROKEN_SESSION | BROKEN_BROWSER
"""A browser that loses its pipe ends by itself; either may be seen first."""
GOES_ON = frozenset({"intercepted"})
"""A fault that ends nothing: the page then sends the final request, which must be caught."""


@dataclass(frozen=True)
class Kind:
    """What is done, to whom, and how the run must then end."""

    part: str
    signal: signal.Signals | None
    reasons: frozenset[str]
    notice: str = ""
    """What `notices` must say, where the run goes on."""
    moments: tuple[str, ...] = ("starting", "working", "sending", "held", "closing")


KINDS = {
    "session killed": Kind("session", signal.SIGKILL, BROKEN_SESSION),
    "session aborted": Kind("session", signal.SIGABRT, BROKEN_SESSION),
    "connection cut": Kind("wrapper", signal.SIGUSR1, CUT_OFF, moments=("working", "sending", "closing")),
    "connection garbled": Kind(
        "wrapper", signal.SIGUSR2, BROKEN_SESSION, moments=("working", "sending", "closing")
    ),
    "browser killed": Kind("browser", signal.SIGKILL, BROKEN_BROWSER),
    "browser told to end": Kind("browser", signal.SIGTERM, BROKEN_BROWSER),
    "browser crashed": Kind("browser", signal.SIGSEGV, BROKEN_BROWSER),
    "display killed": Kind("display", signal.SIGKILL, BROKEN_BROWSER),
    "display told to end": Kind("display", signal.SIGTERM, BROKEN_BROWSER),
    "renderers killed": Kind("renderer", signal.SIGKILL, GOES_ON, "A page crashed", ("working", "held")),
    "gpu process killed": Kind("gpu", signal.SIGKILL, GOES_ON, moments=("working", "sending")),
    "storage service killed": Kind("storage", signal.SIGKILL, GOES_ON, moments=("working", "sending")),
    "ffmpeg killed": Kind("ffmpeg", signal.SIGKILL, GOES_ON, "ffmpeg", ("working",)),
    "guardian killed": Kind("guardian", signal.SIGKILL, GOES_ON, moments=("working", "sending")),
    "disk full": Kind("disk", None, BROKEN_SESSION, moments=("working", "sending", "closing")),
    "runner told to end": Kind("runner", signal.SIGTERM, frozenset({"cancelled"})),
    "runner killed": Kind("runner", signal.SIGKILL, frozenset()),
}


@dataclass(frozen=True)
class Fault:
    kind: str
    moment: str
    delay_s: float
    """After the moment has come."""
    agent: str
    """`leaves` when its connection breaks, or `stays`."""

    def __str__(self) -> str:
        return f"{self.kind}, {self.moment}+{self.delay_s:.3f}s, agent {self.agent}"


LONGEST_DELAY_S = {"starting": 2.0, "working": 1.5, "sending": 0.06, "held": 0.1, "closing": 0.4}


def schedule(seed: int, count: int) -> list[Fault]:
    """Every kind in turn, at a random moment of those it has."""
    dice = random.Random(seed)
    names = list(KINDS)
    faults = []
    for number in range(count):
        name = names[number % len(names)]
        moment = dice.choice(KINDS[name].moments)
        delay = round(dice.uniform(0, LONGEST_DELAY_S[moment]), 3)
        faults.append(Fault(name, moment, delay, dice.choice(("leaves", "stays"))))
    return faults
