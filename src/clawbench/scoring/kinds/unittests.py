"""The standard library's unittest, by our own runner: tests are dotted ids, reported over the channel."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence

from clawbench.scoring.kinds.exitcode import PYTHON_MARK
from clawbench.scoring.kinds.protocol import EvaluatorError, Evidence, Invocation, Place
from clawbench.scoring.restoring import file_of_test
from clawbench.scoring.testreport import Outcome, read_report

UNITTEST_MARK = "{unittest}"


class UnitTest:
    """One process tree per class, so that none can speak for another."""

    name = "unittest"

    def missing(self, command: str) -> str | None:
        return None

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        return file_of_test(test, files)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        python = shlex.quote(place.python)
        program = shlex.quote(f"{place.programs}/unittest_program.py")
        runner = f"{python} -I -B {program} {shlex.quote(place.checkout)}"
        expanded = command.replace(UNITTEST_MARK, runner).replace(PYTHON_MARK, python)
        by_class: dict[str, list[str]] = {}
        for test in tests:
            by_class.setdefault(test.rpartition(".")[0], []).append(test)
        return [
            Invocation(" ".join((expanded, *map(shlex.quote, group))), tuple(group))
            for group in by_class.values()
        ]

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        reading = read_report(evidence.channel, evidence.nonce, invocation.tests)
        if not reading.started:
            raise EvaluatorError(
                f"the test runner did not start (exit code {evidence.exit_code}): "
                f"{evidence.tail(2000)[-2000:]}"
            )
        return reading.outcomes
