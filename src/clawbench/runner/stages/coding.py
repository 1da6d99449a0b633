"""A coding run: a workspace without a future, a patch from git state, tests in a fresh checkout."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from clawbench.environments.repo import (
    Patch,
    Workspace,
    commits_beyond,
    open_source,
    patch_in_message,
    prepare_workspace,
    prepare_workspace_with_future,
    take_patch,
)
from clawbench.environments.repo.setup import TestEnvironment, prepare_environment
from clawbench.environments.repo.setup.products import add_products, ignored_products
from clawbench.results import RunDirectory, RunRecord, Score, Verdict, read_json_lines, write_atomic
from clawbench.runner.host import Host
from clawbench.runner.leaks import Said, answers, commits_in, messages_of, signs
from clawbench.runner.spec import Future, PatchFrom, RunSpec
from clawbench.runner.stages.protocol import WORKSPACE
from clawbench.runner.stops import Stop
from clawbench.sandbox import Mount, Sandbox, open_sandbox
from clawbench.scoring.coding import score_coding
from clawbench.scoring.testrun import CHECKOUT
from clawbench.tasks import CodingTask, bare_prompt, coding_prompt


class CodingStage:
    """The repository side of a run."""

    def __init__(self, spec: RunSpec, task: CodingTask, run: RunDirectory, host: Host, scratch: Path) -> None:
        self._spec, self._task, self._run, self._host, self._scratch = spec, task, run, host, scratch
        self._source: Path | None = None
        self._workspace: Workspace | None = None
        self._environment: TestEnvironment | None = None
        self._patch: Patch | None = None
        self._raised = time.monotonic()
        bare = spec.patch_from is PatchFrom.MESSAGE
        self.prompt = bare_prompt(task) if bare else coding_prompt(task, WORKSPACE)
        self.mounts: list[Mount] = []
        self.sockets: Mapping[str, Path] = {}
        self.path_first: list[str] = []

    async def up(self) -> None:
        self._source = await open_source(self._task, self._host.cache)
        directory = self._scratch / "repo"
        if self._spec.future is Future.KEEP:
            self._workspace = await prepare_workspace_with_future(self._task, self._source, directory)
        else:
            self._workspace = await prepare_workspace(
                self._task, self._source, directory, cache=self._host.cache
            )
        self.mounts = [Mount(self._workspace.path, WORKSPACE, writable=True)]
        await self._furnish(self._source, self._workspace)
        self._raised = time.monotonic()

    async def _furnish(self, source: Path, workspace: Workspace) -> None:
        """The agent works with the environment that the tests will have, at the path they will have."""
        self._environment = await prepare_environment(
            self._task, source, self._host.cache, self._open_sandbox
        )
        if self._environment is None:
            return
        self.mounts += [*self._environment.mounts, Mount(workspace.path, CHECKOUT, writable=True)]
        self.path_first = self._environment.search_path
        if self._environment.products is not None:
            hidden = await ignored_products(self._environment.products, workspace.store, workspace.path)
            add_products(self._environment.products, workspace.path, only=hidden)

    @property
    def _open_sandbox(self) -> partial[Sandbox]:
        return partial(open_sandbox, self._spec.sandbox, guardian=self._host.guardian)

    async def stop_signal(self) -> Stop:
        """A repository ends nothing by itself."""
        never: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        return await never

    def last_activity(self) -> float:
        return self._raised

    async def down(self, stop: Stop) -> Stop:
        if self._workspace is not None:
            self._patch = await take_patch(self._workspace)
            write_atomic(self._run.raw_patch, self._patch.raw)
            write_atomic(self._run.patch, self._patch.cleaned)
        return stop

    def describe(self, record: RunRecord) -> None:
        record.patch_from, record.future = self._spec.patch_from.value, self._spec.future.value

    async def score(self, record: RunRecord) -> Score:
        assert self._patch is not None, "scored before the patch was taken"
        assert self._source is not None
        messages = self._messages()
        record.leaks = await self._leaks(messages, self._source)
        record.notices = [*record.notices, *self._notices()]
        patch = self._patch.cleaned
        if self._spec.patch_from is PatchFrom.MESSAGE:
            found = (patch_in_message(answer) for answer in answers(messages))
            patch = next(filter(None, found), "").encode("utf-8", "surrogateescape")
            write_atomic(self._run.raw_patch, patch)
            write_atomic(self._run.patch, patch)
        if not self._spec.judged:
            return Score(verdict=Verdict.UNJUDGED, explanation="`clawbench eval` judges the predictions")
        return await score_coding(
            self._task,
            patch,
            source=self._source,
            scratch=self._scratch / "tests",
            open_sandbox=self._open_sandbox,
            report=self._run.test_report,
            cache=self._host.cache,
            environment=self._environment,
        )

    def _notices(self) -> list[str]:
        assert self._patch is not None
        if self._spec.patch_from is PatchFrom.MESSAGE:
            return ["the patch is the one in the last message that has one; the work tree does not count"]
        environment = self._environment.notices if self._environment else ()
        dropped = (f"left out of the patch: {entry.path} ({entry.why})" for entry in self._patch.dropped)
        return [*environment, *dropped, *self._patch.notices]

    def _messages(self) -> list[Said]:
        return messages_of(read_json_lines(self._run.messages)) if self._run.messages.is_file() else []

    async def _leaks(self, messages: list[Said], source: Path) -> list[str]:
        kept = ["the history after the base commit was left in place (--future keep)"]
        beyond = await commits_beyond(source, self._task.base_commit, commits_in(messages))
        return (kept if self._spec.future is Future.KEEP else []) + signs(self._task, messages, beyond)

    async def close(self) -> None:
        """The scratch directory is removed by the runner; nothing else is held."""
