"""The trusted side of the reference harness: starts its program in the sandbox and reads what it left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import websockets

from clawbench import __version__
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.program import (
    Launch,
    ProgramHarness,
    Setting,
    browser_url,
    gateway_url,
    write_home,
)
from clawbench.harnesses.protocol import CDP, RunContext
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import Part, Runtime
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import Usage
from clawbench.sandbox import Mount, Sandbox

PROGRAM = "/opt/reference/agent"
SITE = "/opt/reference/site/websockets"
SETTINGS = "agent-settings.json"
RESULT = "result.json"
MAX_TURNS = 200
"""The turn limit of a run that has none of its own."""


class OwnProgram(ProgramHarness):
    """A program of this package, which runs on the bare interpreter: nothing is installed."""

    tried = (__version__,)
    transcripts = ("transcript.jsonl", RESULT)

    def __init__(self) -> None:
        super().__init__()

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        return ()

    async def provision(self, sandbox: Sandbox) -> None:
        sandbox.mount(Mount(Path(__file__).parent / "agent", PROGRAM))
        sandbox.mount(Mount(Path(websockets.__file__).parent, SITE))

    def launch(self, context: RunContext, settings: Mapping[str, Any], **env: str) -> Launch:
        write_home(context, SETTINGS, json.dumps(settings, ensure_ascii=False))
        site = str(Path(context.sandbox.inside(SITE)).parent)
        argv = [context.sandbox.python, "-I", "-B", context.sandbox.inside(PROGRAM)]
        return Launch(argv, {"REFERENCE_SITE": site, **env})

    def examine(self, leftovers: Leftovers) -> Evidence:
        """result.json as far as it can be read."""
        result = leftovers.json(RESULT)
        if not result:
            return Evidence()
        return Evidence(
            outcome=_outcome(result.get("finish_reason")),
            answer=short(result.get("answer")),
            tool_calls=count(result.get("tool_calls")),
            turns=count(result.get("turns")),
            usage=_usage(result.get("usage")),
            detail=short(result.get("detail")),
        )


class ReferenceHarness(OwnProgram):
    """A tool loop over chat completions, with coding tools or browser tools."""

    name = "reference"
    kinds = frozenset({"web", "coding"})
    summary = "Clawbench's own small agent: shell, files and a browser over chat completions"
    apis = (ApiType.OPENAI_COMPLETIONS,)
    settings = frozenset(Setting)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        return self.launch(
            context,
            _settings(context, prompt),
            OPENAI_BASE_URL=f"{gateway_url(context)}/v1",
            OPENAI_API_KEY=context.token,
        )

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
        return Forbidden(Line(tool=other, arguments={"command": "ls"}), "there is no tool")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="list", arguments={"path": "."})


_FINISH = Line(tool="finish", arguments={"summary": "It is done."})


def _outcome(word: object) -> Outcome | None:
    if not isinstance(word, str):
        return None
    return next((one for one in Outcome if one.value == word), Outcome.ERROR)


def _usage(value: object) -> Usage:
    said = value if isinstance(value, dict) else {}
    prompt, cached = count(said.get("prompt_tokens")), count(said.get("cached_tokens"))
    return Usage(
        input=max(0, prompt - cached),
        cache_read=cached,
        output=count(said.get("completion_tokens")),
        reasoning=count(said.get("reasoning_tokens")),
    )


def _settings(context: RunContext, prompt: str) -> dict[str, Any]:
    return {
        "kind": context.kind,
        "prompt": prompt,
        "model": context.model.upstream_name,
        "workspace": context.workspace,
        "time_limit_s": context.time_limit_s,
        "max_turns": context.max_turns or MAX_TURNS,
        "cdp_url": browser_url(context) if CDP in context.listen else None,
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
