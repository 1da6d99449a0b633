"""The trusted side of the reference harness: starts its program in the sandbox and reads what it left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import websockets

from clawbench import __version__
from clawbench.errors import InputError
from clawbench.harnesses.protocol import CDP, GATEWAY, AgentResult, RunContext
from clawbench.harnesses.reference.evidence import Evidence, finish_of, read_evidence, save_evidence
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press, Rehearsed
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import Claim
from clawbench.sandbox import Command, Mount, Sandbox
from clawbench.sandbox.interpreter import base_interpreter

PROGRAM = "/opt/reference/agent"
SITE = "/opt/reference/site/websockets"
SETTINGS = "agent-settings.json"
MAX_TURNS = 200
"""The turn limit of a run that has none of its own."""


@dataclass
class ReferenceAgent:
    context: RunContext
    evidence: Evidence = field(default_factory=Evidence)


class ReferenceHarness(Rehearsed):
    """A tool loop over chat completions, with coding tools or browser tools."""

    name = "reference"
    version: str | None = __version__
    kinds = frozenset({"web", "coding"})
    summary = "Clawbench's own small agent: shell, files and a browser over chat completions"

    async def provision(self, sandbox: Sandbox) -> None:
        sandbox.mount(Mount(Path(__file__).parent / "agent", PROGRAM))
        sandbox.mount(Mount(Path(websockets.__file__).parent, SITE))

    async def open(self, context: RunContext) -> ReferenceAgent:
        if context.model.api_type is not ApiType.OPENAI_COMPLETIONS:
            raise InputError(
                f"the reference harness cannot speak {context.model.api_type.value}",
                field=f"{context.model.name}.api_type",
                remedy=f"Use an endpoint with {ApiType.OPENAI_COMPLETIONS.value}, or another harness",
            )
        return ReferenceAgent(context)

    async def perform(self, agent: ReferenceAgent, prompt: str) -> AgentResult:
        context = agent.context
        settings = json.dumps(_settings(context, prompt), ensure_ascii=False)
        (context.sandbox.home / SETTINGS).write_text(settings, encoding="utf-8")
        process = await context.sandbox.start(_command(context))
        try:
            context.services.serve(process)
            ended = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await process.end()
        agent.evidence = read_evidence(context.sandbox.home)
        return finish_of(agent.evidence, ended)

    async def collect(self, agent: ReferenceAgent, harness_dir: Path) -> Claim | None:
        agent.evidence = read_evidence(agent.context.sandbox.home)
        save_evidence(agent.context.sandbox.home, harness_dir)
        return agent.evidence.claim()

    async def close(self, agent: ReferenceAgent) -> None:
        (agent.context.sandbox.home / SETTINGS).unlink(missing_ok=True)

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (Line(tool="shell", arguments={"command": edit.command}), _FINISH)

    def presses(self, press: Press) -> Sequence[Line]:
        element = rf'^\[(?P<button>\d+)\] button "{press.label}"'
        return (
            Line(tool="browser_open", arguments={"url": press.url}),
            Line(tool="browser_click", arguments={"element": "${button:int}"}, after=element),
            _FINISH,
        )

    def forbidden(self, kind: str) -> Forbidden:
        other = "browser_read" if kind == "coding" else "shell"
        return Forbidden(Line(tool=other, arguments={"command": "ls"}), "no tool")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="list", arguments={"path": "."})


_FINISH = Line(tool="finish", arguments={"summary": "It is done."})


def _command(context: RunContext) -> Command:
    sandbox = context.sandbox
    return Command(
        argv=[str(base_interpreter()), "-I", "-B", sandbox.inside(PROGRAM)],
        env={
            "OPENAI_BASE_URL": f"http://127.0.0.1:{context.listen[GATEWAY]}/v1",
            "OPENAI_API_KEY": context.token,
            "REFERENCE_SITE": str(Path(sandbox.inside(SITE)).parent),
        },
        cwd=context.workspace,
        stdout=context.harness_dir / "stdout.txt",
        stderr=context.harness_dir / "stderr.txt",
        listen=context.listen,
        limits=context.limits,
    )


def _settings(context: RunContext, prompt: str) -> dict[str, Any]:
    cdp_port = context.listen.get(CDP)
    return {
        "kind": context.kind,
        "prompt": prompt,
        "model": context.model.upstream_name,
        "workspace": context.workspace,
        "time_limit_s": context.time_limit_s,
        "max_turns": context.max_turns or MAX_TURNS,
        "cdp_url": f"http://127.0.0.1:{cdp_port}" if cdp_port else None,
        "request": _request(context.model),
    }


def _request(model: Model) -> dict[str, Any]:
    """The model's settings as fields of a chat completion request; what is not set is not sent."""
    fields: dict[str, Any] = {}
    if model.temperature is not None:
        fields["temperature"] = model.temperature
    if model.max_tokens is not None:
        newer = "api.openai.com" in model.base_url
        fields["max_completion_tokens" if newer else "max_tokens"] = model.max_tokens
    if model.thinking_level not in (None, ThinkingLevel.OFF):
        fields["reasoning_effort"] = model.thinking_level.value
    return fields
