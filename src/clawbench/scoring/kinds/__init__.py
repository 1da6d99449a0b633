"""How tests are run and what became of each is learned: one kind per test runner.

A task names its kind with `test_runner`; without it a kind's name in braces in `test_command`, such as
`{unittest}`, means that one, and any other command is judged by its exit code. To add a kind, write a class
that fits `RunnerKind` and list it below.
"""

import re

from clawbench.errors import InputError
from clawbench.scoring.kinds.django import Django
from clawbench.scoring.kinds.exitcode import ExitCode
from clawbench.scoring.kinds.image import InImage
from clawbench.scoring.kinds.logs import LOGS
from clawbench.scoring.kinds.ownprograms import CC, Cargo, Go, JUnit, Minitest, Node, PhpUnit
from clawbench.scoring.kinds.protocol import (
    EvaluatorError,
    Evidence,
    Invocation,
    Place,
    RunnerKind,
    WatchingKind,
)
from clawbench.scoring.kinds.pytests import PyTest
from clawbench.scoring.kinds.unittests import UnitTest
from clawbench.tasks import CodingTask

_ALL: tuple[RunnerKind, ...] = (
    *(ExitCode(), UnitTest(), Django(), PyTest(), InImage()),
    *(JUnit(), Go(), Cargo(), Node(), CC(), Minitest(), PhpUnit()),
    *LOGS,
)
KINDS: dict[str, RunnerKind] = {kind.name: kind for kind in _ALL}
_MARK = re.compile(r"\{([a-z]+)\}")

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
        marks = (mark for mark in _MARK.findall(task.test_command) if mark in KINDS)
        return KINDS[next(marks, ExitCode.name)]
    if task.test_runner not in KINDS:
        raise InputError(
            f"no test runner called {task.test_runner!r}",
            file=task.directory / "task.json",
            field="test_runner",
            remedy=f"Known: {', '.join(sorted(KINDS))}",
        )
    return KINDS[task.test_runner]
