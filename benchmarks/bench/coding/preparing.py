"""Workspaces without a future, against what git itself takes to throw a future away."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from clawbench.environments.repo import prepare_workspace
from clawbench.tasks import CodingTask, RepoSource


def coding_task(source: Path, base_commit: str, **more: object) -> CodingTask:
    values = {"test_command": "true", "FAIL_TO_PASS": ["none"], **more}
    task = CodingTask.model_validate(
        {
            "repo": "bench/history",
            "base_commit": base_commit,
            "problem_statement": "measured",
            "language": "Python",
            "repo_source": RepoSource(mirror=str(source)),
            **values,
        }
    )
    task.locate("bench", "history", source)
    return task


def commit_at(source: Path, revision: str) -> str:
    asked = ["git", "rev-parse", f"{revision}^{{commit}}"]
    return subprocess.run(asked, cwd=source, check=True, capture_output=True, text=True).stdout.strip()


async def prepare(task: CodingTask, source: Path, directory: Path, cache: Path | None) -> tuple[float, int]:
    """Seconds until a proved workspace is there, and how many objects it has."""
    began = time.monotonic()
    workspace = await prepare_workspace(task, source, directory, cache=cache)
    took = time.monotonic() - began
    assert workspace.proof.holds
    shutil.rmtree(directory)
    return took, workspace.proof.objects


def collect_garbage(source: Path, directory: Path) -> float:
    """Seconds of `git gc --prune=now --aggressive` on a copy of the repository."""
    shutil.copytree(source, directory)
    began = time.monotonic()
    subprocess.run(["git", "gc", "-q", "--prune=now", "--aggressive"], cwd=directory, check=True)
    took = time.monotonic() - began
    shutil.rmtree(directory)
    return took
