"""One fault from the start of a run to the last check."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.environments.browser.faults.disk import small_disk
from tests.environments.browser.faults.evidence import check
from tests.environments.browser.faults.plan import Fault
from tests.environments.browser.faults.rehearsal import perform, rehearsal


def suffer(fault: Fault, base: Path) -> None:
    with ExitStack() as stack:
        output = base / "runs"
        if fault.kind == "disk full":
            output = stack.enter_context(small_disk(base / "disk"))
        cutting = fault.kind.startswith("connection")
        one = stack.enter_context(rehearsal(base, output, fault.agent, cutting=cutting))
        perform(one, fault)
        check(one, fault, one.end())
