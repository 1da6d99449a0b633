"""An agent that clicks, types and scrolls at random: the floor of web tasks."""

from __future__ import annotations

import secrets

from clawbench.errors import InputError
from clawbench.harnesses.program import Launch, ProgramAgent, Setting, browser_url
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.reference.adapter import OwnProgram
from clawbench.harnesses.runtimes import Runtime
from clawbench.models import ApiType

ACTIONS = 200
"""How much it does in a run without a turn limit."""


class RandomClickHarness(OwnProgram):
    """Asks no model. `random-click@SEED` makes the same choices again."""

    name = "random-click"
    kinds = frozenset({"web"})
    summary = "clicks, types and scrolls at random; the floor of web tasks"
    asks_model = False
    apis = tuple(ApiType)
    settings = frozenset({Setting.TURNS})

    def __init__(self, seed: str | None = None) -> None:
        super().__init__()
        if seed is not None and not (seed.isascii() and seed.isdigit()):
            raise InputError(
                f"{seed!r} is no seed", field="--harness", remedy="Write a number: random-click@7"
            )
        self.seed = secrets.randbits(32) if seed is None else int(seed)

    async def open(self, context: RunContext) -> ProgramAgent:
        agent = await super().open(context)
        agent.notices.append(f"the choices of this run are those of --harness random-click@{self.seed}")
        return agent

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        settings = {
            "prompt": prompt,
            "cdp_url": browser_url(context),
            "seed": self.seed,
            "actions": context.max_turns or ACTIONS,
            "time_limit_s": context.time_limit_s,
        }
        return self.launch(context, settings, REFERENCE_PROGRAM="wandering")
