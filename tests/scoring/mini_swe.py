"""The tasks of the bundled suite mini-swe, each with what it needs on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawbench.scoring.kinds import kind_of
from clawbench.tasks import BUNDLED, CodingTask, load_task
from tests.scoring.coding_case import Case

SUITE = BUNDLED / "mini-swe"
IDS = sorted(path.name for path in SUITE.iterdir())


def mini_task(task_id: str) -> CodingTask:
    task = load_task(SUITE / task_id)
    assert isinstance(task, CodingTask)
    lacking = kind_of(task).missing(task.test_command)
    if lacking is not None:
        pytest.skip(lacking)
    return task


def short_case(directory: Path, task_id: str) -> Case:
    """A case that the tests of one file decide, which are quick to build and run."""
    task = mini_task(task_id)
    first = task.fail_to_pass[0].partition("::")[0]
    chosen = [test for test in task.fail_to_pass if test.startswith(first)]
    changed = task.model_copy(update={"fail_to_pass": chosen, "pass_to_pass": []})
    changed.locate(task.suite, task.id, task.directory)
    return Case(directory, changed, cache=directory / "kept", time_limit_s=120)
