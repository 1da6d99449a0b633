"""The adapter protocol: five methods between a run and any agent program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from clawbench.models import Model
from clawbench.results import Claim, FinishReason
from clawbench.sandbox import HOME, Limits, Sandbox

GATEWAY = "gateway"
CDP = "cdp"
"""Names of the two services a sandbox may be given."""
GATEWAY_PORT = 8787
CDP_PORT = 9222


class Services(Protocol):
    """Answers on the sockets of the services that a started process was given."""

    def serve(self, process: Any) -> None: ...


@dataclass(frozen=True)
class RunContext:
    """All a harness learns about its run. Nothing here grades, records or pays."""

    kind: Literal["web", "coding"]
    sandbox: Sandbox
    model: Model
    """Settings only: its keys are never given to a harness."""
    token: str
    """Worth nothing but at this run's gateway."""
    services: Services
    listen: Mapping[str, int]
    """The services and their ports, to be put into `Command.listen`."""
    workspace: str
    """Directory inside the sandbox: the repository (coding) or an empty directory (web)."""
    harness_dir: Path
    """Host directory for stdout, stderr and the native transcript."""
    time_limit_s: float
    max_turns: int | None = None
    limits: Limits = field(default_factory=Limits)
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> str:
        """HOME as the sandbox has it; `sandbox.home` is the same directory on the host."""
        return self.sandbox.inside(HOME)


@dataclass(frozen=True)
class AgentResult:
    """How the agent ended, from evidence."""

    finish_reason: FinishReason
    exit_code: int | None
    detail: str = ""


class Agent(Protocol):
    """A per-run agent, made by `open`; what it holds is the harness's own business."""

    context: RunContext
    # An agent may also have `notices: Sequence[str]`: what the record should say of this run, such as
    # settings that the harness has no word for.


class Harness(Protocol):
    """An agent program that can be put in front of a task."""

    name: str
    version: str | None
    kinds: frozenset[str]
    """`web`, `coding` or both."""
    summary: str

    async def provision(self, sandbox: Sandbox) -> None:
        """Make the pinned runtime visible in the sandbox and HOME ready."""
        ...

    async def open(self, context: RunContext) -> Agent:
        """Configure one agent: tool policy, gateway address, CDP or repository."""
        ...

    async def perform(self, agent: Any, prompt: str) -> AgentResult:
        """Run to the end. Cancelling it ends the agent's whole process tree."""
        ...

    async def collect(self, agent: Any, harness_dir: Path) -> Claim | None:
        """Save the native transcript; return what the harness says it used."""
        ...

    async def close(self, agent: Any) -> None:
        """Release everything; always called."""
        ...
