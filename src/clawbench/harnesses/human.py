"""A person instead of an agent: they drive the recorded browser by hand, through the run's live view."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from clawbench.harnesses.protocol import AgentResult, RunContext
from clawbench.results import Claim
from clawbench.sandbox import Sandbox

HUMAN = "human"
"""The name of the harness, and of what thinks behind it."""


@dataclass
class HumanAgent:
    context: RunContext


class HumanHarness:
    """Starts no program and ends by itself never: the run's stop conditions say when it is over."""

    name = HUMAN
    version: str | None = None
    kinds = frozenset({"web"})
    summary = "a person drives the browser (`run --human`)"
    asks_model = False

    async def provision(self, sandbox: Sandbox) -> None:
        return None

    async def open(self, context: RunContext) -> HumanAgent:
        return HumanAgent(context)

    async def perform(self, agent: HumanAgent, prompt: str) -> AgentResult:
        never: asyncio.Future[AgentResult] = asyncio.get_running_loop().create_future()
        return await never

    async def collect(self, agent: HumanAgent, harness_dir: Path) -> Claim | None:
        return None

    async def close(self, agent: HumanAgent) -> None:
        return None
