"""A hundred faults at random moments; FAULTS_SEED makes a schedule again."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.environments.browser.faults.disk import small_disk
from tests.environments.browser.faults.evidence import check
from tests.environments.browser.faults.plan import Fault, schedule
from tests.environments.browser.faults.rehearsal import perform, rehearsal

SEED = int(os.environ.get("FAULTS_SEED", "20261116"))
COUNT = int(os.environ.get("FAULTS_COUNT", "100"))


def suffer(fault: Fault, base: Path) -> None:
    with ExitStack() as stack:
        output = base / "runs"
        if fault.kind == "disk full":
            output = stack.enter_context(small_disk(base / "disk"))
        cutting = fault.kind.startswith("connection")
        one = stack.enter_context(rehearsal(base, output, fault.agent, cutting=cutting))
        perform(one, fault)
        check(one, fault, one.end())


@pytest.mark.faults
@pytest.mark.parametrize(("number", "fault"), list(enumerate(schedule(SEED, COUNT))), ids=str)
def test_a_fault(number: int, fault: Fault, base: Path) -> None:
    print(f"FAULTS_SEED={SEED}, fault {number} of {COUNT}: {fault}")
    suffer(fault, base)
