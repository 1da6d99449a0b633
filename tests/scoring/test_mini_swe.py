"""The bundled suite mini-swe: its own fixes resolve, nothing else does, its histories are always the same."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from clawbench.environments.repo import open_source
from clawbench.errors import InputError
from clawbench.results import Cause, Verdict
from clawbench.tasks import CodingTask, load_task
from clawbench.tasks.suites import languages, members
from tests.scoring.coding_case import Case
from tests.scoring.mini_swe import IDS, SUITE, mini_task

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def git(repository: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_one_task_for_each_language() -> None:
    assert languages(members("mini-swe")) == ["C/C++", "Go", "JS/TS", "Java", "PHP", "Python", "Ruby", "Rust"]
    assert len(IDS) == 8


@needs_bwrap
@pytest.mark.parametrize("task_id", IDS)
def test_own_fix_resolves_and_nothing_does_not(task_id: str, tmp_path: Path) -> None:
    case = Case(tmp_path, mini_task(task_id), cache=tmp_path / "kept", time_limit_s=120)
    score = case.score(case.task.patch.encode())
    assert (score.verdict, score.cause) == (Verdict.RESOLVED, Cause.NONE), score.explanation
    score = case.score(b"")
    assert score.verdict is Verdict.UNRESOLVED
    assert {check.name for check in score.checks if not check.ok} == set(case.task.fail_to_pass)


@pytest.mark.parametrize("task_id", IDS)
def test_history_has_a_past_and_a_future(task_id: str, tmp_path: Path) -> None:
    task = load_task(SUITE / task_id)
    assert isinstance(task, CodingTask)
    source = anyio.run(open_source, task, tmp_path)
    assert int(git(source, "rev-list", "--count", task.base_commit)) >= 6
    future = git(source, "rev-list", "--reverse", f"{task.base_commit}..main").split()
    diff = ("diff", "--full-index", task.base_commit, future[0])
    applied = sum(text.count("\ndiff --git") + 1 for text in (task.patch, task.test_patch))
    assert git(source, *diff, "--name-only").count("\n") + 1 == applied, "the fix is the next commit"


def test_stream_that_is_none_is_named(tmp_path: Path) -> None:
    shutil.copytree(SUITE / IDS[0], tmp_path / "task")
    (tmp_path / "task" / "history.fast-export").write_text("commit nonsense\n")
    task = load_task(tmp_path / "task")
    assert isinstance(task, CodingTask)
    with pytest.raises(InputError, match=r"history\.fast-export.*git fast-export --all"):
        anyio.run(open_source, task, tmp_path / "cache")
