"""A dozen faults, each part once: the short version of the group `faults`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.environments.browser.faults.evidence import check
from tests.environments.browser.faults.plan import KINDS, Fault
from tests.environments.browser.faults.rehearsal import rehearsal
from tests.environments.browser.faults.trial import suffer

SURVIVED = [name for name, kind in KINDS.items() if "intercepted" in kind.reasons]

DEADLY = [
    Fault("session killed", "held", 0.05, "stays"),
    Fault("connection cut", "sending", 0.02, "leaves"),
    Fault("browser killed", "sending", 0.03, "leaves"),
    Fault("display killed", "held", 0.05, "leaves"),
    Fault("disk full", "working", 0.1, "stays"),
]


def test_what_a_run_outlives(base: Path) -> None:
    """Renderers, the browser's services, the encoder, the guardians: one after the other, in one run."""
    last = Fault(SURVIVED[-1], "working", 0.0, "leaves")
    with rehearsal(base, base / "runs", "leaves") as one:
        one.in_full_swing()
        for name in SURVIVED:
            one.strike(name)
            one.in_full_swing()
        one.site.give_cue()
        check(one, last, one.end())
        told = " ".join(one.json("run.json")["notices"])
    assert "A page crashed: http://shop.example/" in told
    assert "ffmpeg ended with -9" in told


@pytest.mark.parametrize("fault", DEADLY, ids=str)
def test_what_ends_a_run(fault: Fault, base: Path) -> None:
    suffer(fault, base)
