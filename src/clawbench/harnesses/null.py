"""The harness that does nothing: the floor that every other harness is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clawbench import __version__
from clawbench.harnesses.protocol import AgentResult, RunContext
from clawbench.results import Claim, FinishReason, Usage
from clawbench.sandbox import Sandbox


@dataclass(frozen=True)
class NullAgent:
    context: RunContext


class NullHarness:
    """Ends at once, having asked no model and touched nothing."""

    name = "null"
    version: str | None = __version__
    kinds = frozenset({"web", "coding"})
    summary = "does nothing; the floor to compare with"
    asks_model = False

    async def provision(self, sandbox: Sandbox) -> None:
        return None

    async def open(self, context: RunContext) -> NullAgent:
        return NullAgent(context)

    async def perform(self, agent: NullAgent, prompt: str) -> AgentResult:
        return AgentResult(FinishReason.EMPTY, exit_code=None, detail="the null harness does nothing")

    async def collect(self, agent: NullAgent, harness_dir: Path) -> Claim | None:
        return Claim(usage=Usage(), cost_usd=0.0, turns=0)

    async def close(self, agent: NullAgent) -> None:
        return None
