"""OpenCode, by `opencode run` with JSON events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from clawbench.harnesses import playwright_mcp
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.npm_programs import ANSWER_TOKENS, CONTEXT_WINDOW, npm_platform, reading
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, model_id, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.read_only_shell import mount_check
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import NpmPart, Part, Runtime
from clawbench.harnesses.thinking import anthropic_budget, thinks
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS, SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import Usage
from clawbench.sandbox import Mount

_CLIENTS = {
    ApiType.OPENAI_COMPLETIONS: ("@ai-sdk/openai-compatible", "/v1"),
    ApiType.OPENAI_RESPONSES: ("@ai-sdk/openai", "/v1"),
    ApiType.ANTHROPIC_MESSAGES: ("@ai-sdk/anthropic", "/v1"),
    ApiType.GOOGLE: ("@ai-sdk/google", "/v1beta"),
}
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
    "OPENCODE_DISABLE_EMBEDDED_WEB_UI": "1",
    "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
    "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS": str(SHELL_TIMEOUT_S * 1000),
}
_NOTHING_TO_INSTALL = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""Else it looks for its plugin package at npm, for over a minute before it gives up."""
_ENOUGH = "The turn limit is reached"
_TURN_LIMIT = f"""\
let asked = 0;
export const TurnLimit = async () => ({{
  "chat.params": async () => {{ if (++asked > %d) throw new Error("{_ENOUGH}"); }},
}});
"""
"""Its own `steps` only asks the model to come to an end."""
_ONLY_READING = """\
const {check, allowed} = %s, {refusal} = require(check);
export const OnlyReading = async () => ({
  "tool.execute.before": async ({tool}, {args}) => {
    const reason = tool === "bash" ? refusal(String(args.command), allowed) : null;
    if (reason !== null) throw new Error(`Refused: ${reason}`);
  },
});
"""
"""Its rules know commands by how they look, not by their words."""
_FORBIDDEN = ("webfetch", "websearch", "codesearch", "task", "skill", "todowrite", "question")


class OpenCodeHarness(ProgramHarness):
    name = "opencode"
    summary = "OpenCode, of the terminal"
    kinds = frozenset({"web", "coding"})
    tried = ("1.18.33",)
    apis = tuple(_CLIENTS)
    settings = frozenset(Setting)
    transcripts = (".local/share/opencode/opencode.db*",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        own = NpmPart(self.name, "opencode-ai", str(self.version))
        return (own, *playwright_mcp.PARTS) if kind != "coding" else (own,)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        config = _config(context)
        _cover_project_plugins(context)
        if context.kind == "web":
            command = playwright_mcp.server_command(context, runtime)
            server = {"type": "local", "command": command, "enabled": True, "timeout": 60_000}
            config["mcp"] = {"playwright": server}
        config["plugin"] = [f"file://{path}" for path in _plugins(context)]
        write_home(context, ".config/opencode/package-lock.json", json.dumps(_NOTHING_TO_INSTALL))
        write_home(context, ".config/opencode/node_modules/.keep", "")
        path = write_home(context, "opencode.json", json.dumps(config))
        program = runtime[self.name].path(f"node_modules/opencode-{npm_platform()}/bin/opencode")
        options = [
            "run",
            "--format",
            "json",
            "--model",
            f"gateway/{model_id(context.model)}",
            "--title",
            "run",
        ]
        argv = reading(write_home(context, "prompt.txt", prompt), [program, *options])
        return Launch(argv, {**_QUIET, "OPENCODE_CONFIG": path})

    def examine(self, leftovers: Leftovers) -> Evidence:
        steps: list[dict[str, Any]] = []
        calls, answer, failure = 0, "", ""
        for event in leftovers.json_lines():
            part = _object(event.get("part"))
            match event.get("type"):
                case "step_finish":
                    steps.append(part)
                case "tool_use":
                    calls += 1
                case "text":
                    answer = short(part.get("text"))
                case "error":
                    failure = _message(event.get("error"))
        # It tells what an answer took only after the tools that were called.
        cut_off = leftovers.ended is None
        return Evidence(
            outcome=_outcome(steps, failure),
            answer=answer,
            tool_calls=calls,
            turns=None if cut_off else len(steps),
            usage=None if cut_off else sum((_usage(step.get("tokens")) for step in steps), Usage()),
            detail=failure or ("" if steps else short(leftovers.errors().strip())),
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (
            Line(tool="bash", arguments={"command": edit.command, "description": "change the line"}),
            Line(text="The line is changed."),
        )

    def presses(self, press: Press) -> Sequence[Line]:
        return playwright_mcp.presses(press, "playwright_")

    def forbidden(self, kind: str) -> Forbidden:
        line = Line(tool="webfetch", arguments={"url": "http://example.org/", "format": "text"})
        return Forbidden(line, "unavailable tool|invalid|not allowed|denied")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="bash", arguments={"command": "ls", "description": "look around"})


def _cover_project_plugins(context: RunContext) -> None:
    """It would run the plugins of a repository, and no setting of its own keeps it from that."""
    empty = context.sandbox.home / "no-project-settings"
    empty.mkdir(exist_ok=True)
    context.sandbox.mount(Mount(empty, f"{context.workspace}/.opencode"))


def _plugins(context: RunContext) -> Iterator[str]:
    if context.kind == "web":
        known = json.dumps({"check": mount_check(context), "allowed": READ_ONLY_COMMANDS})
        yield write_home(context, "only-reading.js", _ONLY_READING % known)
    if context.max_turns is not None:
        yield write_home(context, "turn-limit.js", _TURN_LIMIT % context.max_turns)


def _config(context: RunContext) -> dict[str, Any]:
    model = f"gateway/{model_id(context.model)}"
    return {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "lsp": False,
        "formatter": False,
        "model": model,
        "small_model": model,
        "enabled_providers": ["gateway"],
        "provider": {"gateway": _provider(context)},
        "permission": _permissions(context.kind),
        "agent": {"build": _agent(context)},
    }


def _provider(context: RunContext) -> dict[str, Any]:
    client, path = _CLIENTS[context.model.api_type]
    options = {"baseURL": gateway_url(context) + path, "apiKey": context.token, "timeout": 600_000}
    models = {model_id(context.model): _model(context)}
    return {"npm": client, "name": "gateway", "options": options, "models": models}


def _model(context: RunContext) -> dict[str, Any]:
    model = context.model
    seen = ["text", "image"] if context.kind == "web" else ["text"]
    return {
        "name": model.upstream_name,
        "tool_call": True,
        "reasoning": thinks(model),
        "temperature": True,
        "attachment": "image" in seen,
        "modalities": {"input": seen, "output": ["text"]},
        "limit": {"context": CONTEXT_WINDOW, "output": _answer_tokens(model)},
        "options": _thinking(model),
    }


def _answer_tokens(model: Model) -> int:
    """Its client of Anthropic's API asks for as many more as are for thinking."""
    if model.max_tokens is None:
        return ANSWER_TOKENS
    if model.api_type is not ApiType.ANTHROPIC_MESSAGES or not thinks(model):
        return model.max_tokens
    budget, tokens = anthropic_budget(model)
    return max(1, tokens - budget)


def _thinking(model: Model) -> dict[str, Any]:
    level = model.thinking_level
    if level is None:
        return {}
    if model.api_type is ApiType.ANTHROPIC_MESSAGES:
        enabled = {"type": "enabled", "budgetTokens": anthropic_budget(model)[0]}
        return {"thinking": enabled if thinks(model) else {"type": "disabled"}}
    if model.api_type is ApiType.GOOGLE:
        named = "high" if level is ThinkingLevel.XHIGH else level.value
        return {"thinkingConfig": {"thinkingLevel": named} if thinks(model) else {"thinkingBudget": 0}}
    return {"reasoningEffort": "none" if level is ThinkingLevel.OFF else level.value}


def _agent(context: RunContext) -> dict[str, Any]:
    asked = {"temperature": context.model.temperature, "steps": context.max_turns}
    return {key: value for key, value in asked.items() if value is not None}


def _permissions(kind: str) -> dict[str, Any]:
    """The last rule that fits holds."""
    denied = dict.fromkeys(_FORBIDDEN, "deny")
    if kind == "coding":
        return {"*": "allow", "doom_loop": "allow", "external_directory": "allow", **denied}
    commands = {pattern: "allow" for name in READ_ONLY_COMMANDS for pattern in (name, f"{name} *")}
    code = {f"playwright_{name}": "deny" for name in playwright_mcp.CODE_TOOLS}
    return {
        "*": "allow",
        "doom_loop": "allow",
        "edit": "deny",
        "bash": {"*": "deny", **commands},
        "external_directory": {"*": "deny", "/my-info/*": "allow", "/my-info/**": "allow"},
        **denied,
        **code,
    }


def _outcome(steps: list[dict[str, Any]], failure: str) -> Outcome | None:
    if failure:
        return Outcome.TURN_LIMIT if _ENOUGH in failure else Outcome.MODEL_ERROR
    if not steps:
        return None
    return Outcome.TURN_LIMIT if steps[-1].get("reason") == "tool-calls" else Outcome.STOP


def _message(error: object) -> str:
    if not isinstance(error, dict):
        return "unknown error"
    data = error.get("data")
    said = data.get("message") if isinstance(data, dict) else None
    return short(said or error.get("name") or error.get("message")) or "unknown error"


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _usage(value: object) -> Usage:
    if not isinstance(value, dict):
        return Usage()
    cache = _object(value.get("cache"))
    reasoning = count(value.get("reasoning"))
    return Usage(
        input=count(value.get("input")),
        cache_read=count(cache.get("read")),
        cache_write=count(cache.get("write")),
        output=count(value.get("output")) + reasoning,
        reasoning=reasoning,
    )
