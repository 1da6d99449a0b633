"""Runners that we cannot get into: their command is run as it is, and what they print is read.

The weakest kind beside exit codes, as the tested code prints to the same place: a failure is not made up for
by a line that says otherwise, and the exit code must agree, but code that prints results and ends the process
with 0 is believed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from clawbench.scoring.kinds.protocol import EvaluatorError, Evidence, Invocation, Place
from clawbench.scoring.parsers import FAILED, PARSERS
from clawbench.scoring.restoring import file_of_test
from clawbench.scoring.testreport import TAMPERED, Outcome

_CANNOT_RUN = (126, 127)


class Log:
    """`log:PARSER`. Test ids are the names that the parser gives; the command itself says what to run."""

    def __init__(self, parser: str) -> None:
        self.name = f"log:{parser}"
        self._parse = PARSERS[parser]

    def missing(self, command: str) -> str | None:
        return None

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        return file_of_test(test, files)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        return [Invocation(command, tuple(tests))]

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        if evidence.exit_code in _CANNOT_RUN:
            raise EvaluatorError(
                f"the test command cannot be run (exit code {evidence.exit_code}): {evidence.tail(2000)}"
            )
        streams = (evidence.stdout, evidence.stderr)
        text = "\n".join(path.read_text(errors="replace") for path in streams if path.is_file())
        statuses = self._parse(text)
        if evidence.exit_code and statuses and FAILED not in statuses.values():
            detail = f"no test failed, but the exit code is {evidence.exit_code}"
            return dict.fromkeys(invocation.tests, Outcome(TAMPERED, detail))
        return {test: Outcome(statuses[test]) for test in invocation.tests if test in statuses}


LOGS = tuple(Log(name) for name in PARSERS)
