"""A harness whose agent keeps a web page busy until somebody ends it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import websockets

from clawbench.harnesses import CDP, AgentResult, RunContext
from clawbench.results import Claim, FinishReason
from clawbench.sandbox import Command, Mount, Sandbox

AGENT = Path(__file__).with_name("agent.py")
INSIDE = "/opt/faults"


class BusyHarness:
    name = "busy"
    version: str | None = None
    kinds = frozenset({"web"})
    summary = "clicks and types without end"

    async def provision(self, sandbox: Sandbox) -> None:
        sandbox.mount(Mount(AGENT, f"{INSIDE}/agent.py"))
        sandbox.mount(Mount(Path(websockets.__file__).parent, f"{INSIDE}/site/websockets"))

    async def open(self, context: RunContext) -> RunContext:
        return context

    async def perform(self, agent: RunContext, prompt: str) -> AgentResult:
        process = await agent.sandbox.start(
            Command(
                argv=[f"{sys.base_prefix}/bin/python3", "-I", "-B", f"{INSIDE}/agent.py"],
                env={
                    "CDP_URL": f"http://127.0.0.1:{agent.listen[CDP]}",
                    "FAULTS_SITE_PACKAGES": f"{INSIDE}/site",
                    "FAULTS_AGENT": os.environ["FAULTS_AGENT"],
                },
                stdout=agent.harness_dir / "stdout.txt",
                stderr=agent.harness_dir / "stderr.txt",
                listen=agent.listen,
            )
        )
        try:
            agent.services.serve(process)
            ended = await process.wait()
        finally:
            await process.end()
        return AgentResult(FinishReason.ERROR, ended.exit_code, "The agent lost its browser")

    async def collect(self, agent: RunContext, harness_dir: Path) -> Claim | None:
        return None

    async def close(self, agent: RunContext) -> None:
        return None
