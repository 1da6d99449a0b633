"""Small real repositories with a base commit and a future."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from clawbench.environments.repo import Workspace, open_source, prepare_workspace
from clawbench.tasks import CodingTask
from tests.environments.repo.repositories import Repo


@pytest.fixture
def new_repo(tmp_path: Path) -> Callable[[str], Repo]:
    def make(name: str = "source") -> Repo:
        path = tmp_path / name
        path.mkdir()
        repo = Repo(path)
        repo.git("init", "-q", "-b", "trunk")
        return repo

    return make


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., CodingTask]:
    def make(mirror: Path, base: str, **fields: object) -> CodingTask:
        task = CodingTask.model_validate(
            {
                "repo": "example/x",
                "base_commit": base,
                "problem_statement": "x",
                "language": "text",
                "test_command": "true",
                "FAIL_TO_PASS": ["x"],
                "repo_source": {"mirror": str(mirror)},
                **fields,
            }
        )
        task.locate("suite", "task", tmp_path)
        return task

    return make


@pytest.fixture
def prepare(make_task: Callable[..., CodingTask], tmp_path: Path) -> Callable[..., Workspace]:
    """Open the source and make a workspace of it, as a run does."""

    async def both(task: CodingTask) -> Workspace:
        source = await open_source(task, tmp_path / "cache")
        return await prepare_workspace(task, source, tmp_path / "run")

    def make(mirror: Path, base: str, **fields: object) -> Workspace:
        return anyio.run(both, make_task(mirror, base, **fields))

    return make
