"""A stage is what a run's environment looks like to its life cycle: the same steps for web and coding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from clawbench.results import RunRecord, Score
from clawbench.runner.stops import Stop
from clawbench.sandbox import Mount

WORKSPACE = "/workspace"
"""Where the agent works, as it sees it."""


class Stage(Protocol):
    """Raised, watched, taken down and scored by the runner."""

    @property
    def prompt(self) -> str: ...

    @property
    def mounts(self) -> Sequence[Mount]: ...

    @property
    def sockets(self) -> Mapping[str, Path]:
        """Services beside the gateway: name -> unix socket."""
        ...

    async def up(self) -> None:
        """Make the environment ready; raises EnvironmentFailedError if it cannot be."""
        ...

    async def stop_signal(self) -> Stop:
        """Wait for an event of the environment that ends the agent's time."""
        ...

    def last_activity(self) -> float:
        """time.monotonic of the last thing that happened here."""
        ...

    async def down(self, stop: Stop) -> Stop:
        """After the agent is gone: finalise what was recorded. Returns the stop as it really was."""
        ...

    def describe(self, record: RunRecord) -> None:
        """Write down what the environment knows of the run: once it is up, and at the end, come what may."""
        ...

    async def score(self, record: RunRecord) -> Score: ...

    async def close(self) -> None:
        """Release everything; always called, also after a failure."""
        ...
