"""A hundred faults at random moments; FAULTS_SEED makes a schedule again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.environments.browser.faults.plan import Fault, schedule
from tests.environments.browser.faults.trial import suffer

SEED = int(os.environ.get("FAULTS_SEED", "20261116"))
COUNT = int(os.environ.get("FAULTS_COUNT", "100"))


@pytest.mark.faults
@pytest.mark.parametrize(("number", "fault"), list(enumerate(schedule(SEED, COUNT))), ids=str)
def test_a_fault(number: int, fault: Fault, base: Path) -> None:
    print(f"FAULTS_SEED={SEED}, fault {number} of {COUNT}: {fault}")
    suffer(fault, base)
