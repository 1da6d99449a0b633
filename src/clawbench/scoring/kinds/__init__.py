"""How tests are run and what became of each is learned: one kind per test runner.

A task names its kind with `test_runner`; without it `{unittest}` in `test_command` means that one, and any
other command is judged by its exit code. To add a kind, write a class that fits `RunnerKind` and
list it below.
"""

from clawbench.errors import InputError
from clawbench.scoring.kinds.django import Django
from clawbench.scoring.kinds.exitcode import ExitCode
from clawbench.scoring.kinds.protocol import (
    EvaluatorError,
    Evidence,
    Invocation,
    Place,
    RunnerKind,
    WatchingKind,
)
from clawbench.scoring.kinds.pytests import PyTest
from clawbench.scoring.kinds.unittests import UNITTEST_MARK, UnitTest
from clawbench.tasks import CodingTask

KINDS: dict[str, RunnerKind] = {kind.name: kind for kind in (ExitCode(), UnitTest(), Django(), PyTest())}

__all__ = [
    "KINDS",
    "EvaluatorError",
    "Evidence",
    "Invocation",
    "Place",
    "RunnerKind",
    "WatchingKind",
    "kind_of",
]


def kind_of(task: CodingTask) -> RunnerKind:
    """The kind a task's tests are of."""
    if task.test_runner is None:
        return KINDS[UnitTest.name if UNITTEST_MARK in task.test_command else ExitCode.name]
    if task.test_runner not in KINDS:
        raise InputError(
            f"no test runner called {task.test_runner!r}",
            file=task.directory / "task.json",
            field="test_runner",
            remedy=f"Known: {', '.join(sorted(KINDS))}",
        )
    return KINDS[task.test_runner]
