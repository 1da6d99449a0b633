"""Tests that only run in the container image of their instance: judged elsewhere until containers come."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from clawbench.scoring.kinds.protocol import EvaluatorError, Evidence, Invocation, Place
from clawbench.scoring.restoring import file_of_test
from clawbench.scoring.testreport import Outcome

_WHY = (
    "there is no recipe for its environment: its tests run in its container image alone. "
    "`--evaluator swebench` judges it there (needs docker)"
)


class InImage:
    """Holds the place of rows without a set-up recipe."""

    name = "image"

    def missing(self, command: str) -> str | None:
        return _WHY

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        return file_of_test(test, files)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        raise EvaluatorError(_WHY)

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        raise EvaluatorError(_WHY)
