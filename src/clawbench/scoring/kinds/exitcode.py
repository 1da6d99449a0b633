"""Any command, once per test: exit code 0 is a pass."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence

from clawbench.scoring.kinds.protocol import EvaluatorError, Evidence, Invocation, Place
from clawbench.scoring.restoring import file_of_test
from clawbench.scoring.testreport import Outcome

PYTHON_MARK = "{python}"
_CANNOT_RUN = (126, 127)


class ExitCode:
    """The weakest kind: code that exits with 0 passes."""

    name = "exit-code"

    def missing(self, command: str) -> str | None:
        return None

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        return file_of_test(test, files)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        expanded = command.replace(PYTHON_MARK, shlex.quote(place.python))
        return [Invocation(f"{expanded} {shlex.quote(test)}", (test,)) for test in tests]

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        code = evidence.exit_code
        if code in _CANNOT_RUN:
            raise EvaluatorError(
                f"the test command cannot be run (exit code {code}): {evidence.tail(2000)[-2000:]}"
            )
        return dict.fromkeys(invocation.tests, Outcome("failed" if code else "passed", f"exit code {code}"))
