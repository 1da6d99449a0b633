"""The bundled coding task, and patches made by editing it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from clawbench.environments.repo import open_source
from clawbench.environments.repo.setup import TestEnvironment
from clawbench.results import Score
from clawbench.sandbox import open_sandbox
from clawbench.scoring.coding import score_coding
from clawbench.tasks import BUNDLED, CodingTask, load_task

DIRECTORY = BUNDLED / "demo" / "001-coding-bugfix-strata"


def bundled_task(**changes: Any) -> CodingTask:
    task = load_task(DIRECTORY)
    assert isinstance(task, CodingTask)
    changed = task.model_copy(update=changes)
    changed.locate(task.suite, task.id, task.directory)
    return changed


@dataclass
class Case:
    """Scores patches in real sandboxes below one directory."""

    directory: Path
    task: CodingTask = field(default_factory=bundled_task)
    open_sandbox: Callable[..., Any] = field(default_factory=lambda: partial(open_sandbox, "bwrap"))
    cache: Path | None = None
    time_limit_s: float = 60
    environment: TestEnvironment | None = None
    count: int = 0

    def source(self) -> Path:
        return anyio.run(open_source, self.task, self.directory / "cache")

    def score(self, patch: bytes) -> Score:
        self.count += 1
        source = self.source()

        async def act() -> Score:
            return await score_coding(
                self.task,
                patch,
                source=source,
                scratch=self.directory / f"scratch-{self.count}",
                open_sandbox=self.open_sandbox,
                report=self.report,
                cache=self.cache,
                time_limit_s=self.time_limit_s,
                environment=self.environment,
            )

        return anyio.run(act)

    @property
    def report(self) -> Path:
        return self.directory / f"tests-{self.count}.json"

    def patch_of(self, files: Mapping[str, str | None], *, with_fix: bool = False) -> bytes:
        """The patch that writes these files (None: deletes; `-> x`: a link) over base or fix."""
        work = self.directory / "work"
        shutil.rmtree(work, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", "-n", self.source(), work], check=True)
        git = partial(subprocess.run, cwd=work, check=True, capture_output=True)
        git(["git", "checkout", "-q", self.task.base_commit])
        if with_fix:
            git(["git", "apply", "-"], input=self.task.patch.encode())
        for name, content in files.items():
            _put(work / name, content)
        git(["git", "add", "-A", "-f"])
        diff = git(["git", "diff", "--cached", "--binary", self.task.base_commit])
        return bytes(diff.stdout)


def _put(file: Path, content: str | None) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    file.unlink(missing_ok=True)
    if content is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if content.startswith("-> "):
        file.symlink_to(content[3:])
    else:
        file.write_text(content)
