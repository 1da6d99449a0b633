"""A harness of somebody else's package, which streams."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio

from clawbench.harnesses import GATEWAY, AgentResult, RunContext
from clawbench.results import Claim, FinishReason
from clawbench.sandbox import Command, Mount, Sandbox
from clawbench.sandbox.interpreter import base_interpreter

PROGRAM = "/opt/streamer"


@dataclass
class StreamingAgent:
    context: RunContext


class Streamer:
    name = "streamer"
    version: str | None = "1"
    kinds = frozenset({"coding"})
    summary = "streams three answers"

    async def provision(self, sandbox: Sandbox) -> None:
        sandbox.mount(Mount(Path(__file__).parent / "program", PROGRAM))

    async def open(self, context: RunContext) -> StreamingAgent:
        return StreamingAgent(context)

    async def perform(self, agent: StreamingAgent, prompt: str) -> AgentResult:
        context = agent.context
        (context.sandbox.home / "prompt.txt").write_text(prompt)
        command = Command(
            argv=[str(base_interpreter()), "-I", "-B", context.sandbox.inside(PROGRAM)],
            env={"GATEWAY": f"127.0.0.1:{context.listen[GATEWAY]}", "TOKEN": context.token},
            cwd=context.workspace,
            stdout=context.harness_dir / "stdout.txt",
            stderr=context.harness_dir / "stderr.txt",
            listen=context.listen,
            limits=context.limits,
        )
        process = await context.sandbox.start(command)
        try:
            context.services.serve(process)
            await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await process.end()
        return AgentResult(FinishReason.STOP, exit_code=None)

    async def collect(self, agent: StreamingAgent, harness_dir: Path) -> Claim | None:
        return None

    async def close(self, agent: StreamingAgent) -> None:
        return None
