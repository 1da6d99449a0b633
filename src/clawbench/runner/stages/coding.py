"""A coding run: a workspace without a future, a patch from git state, tests in a fresh checkout."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from clawbench.environments.repo import Patch, Workspace, open_source, prepare_workspace, take_patch
from clawbench.results import RunDirectory, RunRecord, Score, write_atomic
from clawbench.runner.host import Host
from clawbench.runner.spec import RunSpec
from clawbench.runner.stages.protocol import WORKSPACE
from clawbench.runner.stops import Stop
from clawbench.sandbox import Mount, open_sandbox
from clawbench.scoring.coding import score_coding
from clawbench.tasks import CodingTask, coding_prompt


class CodingStage:
    """The repository side of a run."""

    def __init__(self, spec: RunSpec, task: CodingTask, run: RunDirectory, host: Host, scratch: Path) -> None:
        self._spec, self._task, self._run, self._host, self._scratch = spec, task, run, host, scratch
        self._source: Path | None = None
        self._workspace: Workspace | None = None
        self._patch: Patch | None = None
        self._raised = time.monotonic()
        self.prompt = coding_prompt(task, WORKSPACE)
        self.mounts: list[Mount] = []
        self.sockets: Mapping[str, Path] = {}

    async def up(self) -> None:
        self._source = await open_source(self._task, self._host.cache)
        self._workspace = await prepare_workspace(
            self._task, self._source, self._scratch / "repo", cache=self._host.cache
        )
        self.mounts = [Mount(self._workspace.path, WORKSPACE, writable=True)]
        self._raised = time.monotonic()

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
        """The score tells all there is."""

    async def score(self, record: RunRecord) -> Score:
        assert self._patch is not None, "scored before the patch was taken"
        assert self._source is not None
        record.notices = [
            *record.notices,
            *(f"left out of the patch: {entry.path} ({entry.why})" for entry in self._patch.dropped),
            *self._patch.notices,
        ]
        return await score_coding(
            self._task,
            self._patch.cleaned,
            source=self._source,
            scratch=self._scratch / "tests",
            open_sandbox=partial(open_sandbox, self._spec.sandbox, guardian=self._host.guardian),
            report=self._run.test_report,
            cache=self._host.cache,
        )

    async def close(self) -> None:
        """The scratch directory is removed by the runner; nothing else is held."""
