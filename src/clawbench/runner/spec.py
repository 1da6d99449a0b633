"""What a run is asked to be, all of it validated before anything starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from clawbench.environments.browser.remote.endpoint import FLAG, Endpoint
from clawbench.errors import InputError
from clawbench.gateway import Budget
from clawbench.harnesses import Harness, asks_model
from clawbench.harnesses.program import check_api
from clawbench.models import Model
from clawbench.results import RunOptions
from clawbench.runner.replay import Replaying
from clawbench.sandbox import Limits, Root
from clawbench.tasks import Task, WebTask

if TYPE_CHECKING:
    from clawbench.environments.browser.extension.settings import ExtensionSettings
    from clawbench.environments.browser.vnc import ViewSettings

IDLE_S = 900.0


class PatchFrom(StrEnum):
    GIT = "git"
    """What git says changed in the work tree."""
    MESSAGE = "message"
    """A diff in the agent's last message: the bare adapter."""


class Future(StrEnum):
    REMOVE = "remove"
    KEEP = "keep"
    """For studies of what a leak is worth; such a run enters no leaderboard."""


@dataclass(frozen=True)
class RunSpec:
    """One harness with one model at one task."""

    task: Task
    model: Model
    harness: Harness
    output: Path
    batch: str
    sandbox: str = "bwrap"
    root: Root | None = None
    """What the agent's sandbox shows instead of the host's own system."""
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    time_limit_s: float | None = None
    """Overrides the task's own limit."""
    idle_s: float = IDLE_S
    max_turns: int | None = None
    view: ViewSettings | None = None
    """Web tasks: show the screen to somebody, or let them drive."""
    browser_cdp: Endpoint | None = None
    """Web tasks: use the browser that already runs there."""
    api_port: int | None = None
    """Web tasks: serve the recorder API here, for outside tools."""
    extension: ExtensionSettings | None = None
    """Web tasks: no browser of ours; a person's own one, recorded by the extension."""
    replay: Replaying | None = None
    """Model answers come from the record of another run."""
    seeds: Mapping[str, str] = field(default_factory=dict)
    """Those of a recorded run, to make the same random choices again."""
    patch_from: PatchFrom = PatchFrom.GIT
    """Coding tasks: where the patch is taken from."""
    future: Future = Future.REMOVE
    """Coding tasks: whether the repository's history after the base commit is taken away."""
    judged: bool = True
    """Coding tasks: run the tests at the end; else the patch is only kept, for `clawbench eval`."""

    def __post_init__(self) -> None:
        if self.task.kind not in self.harness.kinds:
            raise InputError(
                f"harness {self.harness.name!r} does not do {self.task.kind} tasks",
                field="--harness",
                remedy="`clawbench harness list` shows what each can do",
            )
        if asks_model(self.harness):
            check_api(self.harness, self.model)

        if self.view is not None and self.task.kind != "web":
            raise InputError(
                f"a {self.task.kind} task has no screen",
                field="--watch",
                remedy="Only web tasks can be watched",
            )

        if self.api_port is not None and self.task.kind != "web":
            raise InputError(
                f"a {self.task.kind} task has no recorder",
                field="--api",
                remedy="Only web tasks have the recorder API",
            )
        if self.browser_cdp is not None:
            self._check_that_a_browser_elsewhere_will_do()

    def _check_that_a_browser_elsewhere_will_do(self) -> None:
        if not isinstance(self.task, WebTask):
            problem, remedy = f"a {self.task.kind} task has no browser", "Only web tasks use one"
        elif self.task.site is not None:
            problem = f"this task's site ({self.task.site}) is bundled, and no browser elsewhere reaches it"
            remedy = "Leave the flag out, or choose a task whose site is on the web"
        elif self.view is not None:
            problem = "the screen of a browser that runs elsewhere cannot be shown or driven from here"
            remedy = "Leave --human or --watch out, or the flag"
        else:
            return
        raise InputError(problem, field=FLAG, remedy=remedy)

    @property
    def options(self) -> RunOptions:
        """What the record keeps, so that the run can be made again."""
        return RunOptions(
            time_limit_s=self.time_limit_s,
            idle_s=None if math.isinf(self.idle_s) else self.idle_s,
            max_turns=self.max_turns,
            max_cost_usd=self.budget.cost_usd,
            max_tokens=self.budget.tokens,
            max_calls=self.budget.calls,
            memory_mb=self.limits.memory_mb,
            patch_from=self.patch_from.value,
            future=self.future.value,
            browser_elsewhere=self.browser_cdp is not None,
        )

    @property
    def agent_time_s(self) -> float:
        return self.time_limit_s if self.time_limit_s is not None else self.task.time_limit * 60
