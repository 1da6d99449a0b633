"""A harness that runs an intruder instead of an agent."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import websockets

from clawbench.harnesses import CDP, GATEWAY, AgentResult, RunContext
from clawbench.results import Claim, FinishReason
from clawbench.sandbox import Command, Mount, Sandbox

HERE = Path(__file__).parent
SITE = "/opt/intruder/site"


@dataclass
class IntruderHarness:
    """Puts `targets` into HOME, runs `script`, and keeps the file it wrote."""

    script: str
    targets: dict[str, Any]
    report: str
    name: str = "intruder"
    version: str | None = None
    kinds: frozenset[str] = frozenset({"web", "coding"})
    summary: str = "tries to break out"
    found: dict[str, Any] | None = None

    async def provision(self, sandbox: Sandbox) -> None:
        sandbox.mount(Mount(HERE / self.script, f"/opt/intruder/{self.script}"))
        sandbox.mount(Mount(Path(websockets.__file__).parent, f"{SITE}/websockets"))

    async def open(self, context: RunContext) -> RunContext:
        (context.sandbox.home / "targets.json").write_text(json.dumps(self.targets))
        return context

    async def perform(self, agent: RunContext, prompt: str) -> AgentResult:
        python = f"{sys.base_prefix}/bin/python3"
        process = await agent.sandbox.start(
            Command(
                argv=[python, "-I", "-B", f"/opt/intruder/{self.script}"],
                env={
                    "OPENAI_BASE_URL": f"http://127.0.0.1:{agent.listen[GATEWAY]}",
                    "OPENAI_API_KEY": agent.token,
                    "CDP_URL": f"http://127.0.0.1:{agent.listen.get(CDP, 0)}",
                    "INTRUDER_SITE": SITE,
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
        report = agent.sandbox.home / self.report
        self.found = json.loads(report.read_text()) if report.exists() else None
        return AgentResult(FinishReason.STOP, ended.exit_code)

    async def collect(self, agent: RunContext, harness_dir: Path) -> Claim | None:
        return None

    async def close(self, agent: RunContext) -> None:
        return None
