"""nanobot, by its SDK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clawbench.harnesses import playwright_mcp
from clawbench.harnesses.driven import drive
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.read_only_shell import check_command
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import Part, PythonPart, Runtime
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS, SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import Usage
from clawbench.tasks.prompts import MY_INFO

_PLAYWRIGHT = "mcp_playwright_"
_READING = ("read_file", "list_dir", "find_files", "grep", "exec")
_WRITING = ("write_file", "edit_file", "apply_patch", "write_stdin", "list_exec_sessions")
_READ_ONLY = rf"(?s:(?:{'|'.join(READ_ONLY_COMMANDS)})(?:\s.*)?)"
_PROVIDERS = {
    ApiType.OPENAI_COMPLETIONS: ("custom", "/v1"),
    ApiType.ANTHROPIC_MESSAGES: ("anthropic", ""),
    ApiType.OPENAI_RESPONSES: ("openai", "/v1"),
}
_OUTCOMES = {
    "completed": Outcome.STOP,
    "empty_final_response": Outcome.STOP,
    "max_iterations": Outcome.TURN_LIMIT,
    "error": Outcome.MODEL_ERROR,
}


class NanobotHarness(ProgramHarness):
    name = "nanobot"
    summary = "HKUDS's nanobot"
    kinds = frozenset({"web", "coding"})
    tried = ("0.3.5",)
    apis = tuple(_PROVIDERS)
    settings = frozenset(Setting)
    transcripts = (".nanobot/sessions/**/*.jsonl",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        own = PythonPart(self.name, "nanobot-ai", str(self.version))
        return (own, *playwright_mcp.PARTS) if kind != "coding" else (own,)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        config = write_home(context, ".nanobot/config.json", json.dumps(self._config(context, runtime)))
        coding = context.kind == "coding"
        settings = {
            "config": config,
            "state": f"{context.home}/.nanobot/workspace",
            "project": context.workspace if coding else MY_INFO,
            "tools": [*_READING, *_WRITING] if coding else _READING,
            "denied": [] if coding else [f"{_PLAYWRIGHT}{name}" for name in playwright_mcp.CODE_TOOLS],
            "check": [] if coding else check_command(context, runtime),
        }
        quiet = {"LOGURU_LEVEL": "INFO"}
        return drive(context, runtime.python(self.name), "nanobot", prompt, settings, quiet)

    def _config(self, context: RunContext, runtime: Runtime) -> dict[str, Any]:
        provider, suffix = _PROVIDERS[context.model.api_type]
        access = {"apiKey": context.token, "apiBase": gateway_url(context) + suffix}
        if context.model.api_type is ApiType.OPENAI_RESPONSES:
            access["apiType"] = "responses"
        defaults = {"provider": provider, "dream": {"enabled": False}, **_generation(context.model)}
        if context.max_turns is not None:
            defaults["maxToolIterations"] = context.max_turns
        return {
            "providers": {provider: access},
            "agents": {"defaults": defaults},
            "tools": _coding_tools() if context.kind == "coding" else _web_tools(context, runtime),
        }

    def examine(self, leftovers: Leftovers) -> Evidence:
        end: dict[str, Any] = {}
        for item in leftovers.json_lines():
            if str(item.get("type")).startswith("run."):
                end = item
        result = end.get("result")
        if not isinstance(result, dict):
            said = short(end.get("error")) or short(leftovers.errors().strip())
            return Evidence(Outcome.ERROR if end.get("type") == "run.failed" else None, detail=said)
        usage = result.get("usage")
        tools = result.get("tools_used")
        return Evidence(
            outcome=_OUTCOMES.get(str(result.get("stop_reason")), Outcome.ERROR),
            answer=short(result.get("content")),
            tool_calls=len(tools) if isinstance(tools, list) else 0,
            turns=count(usage.get("request_count")) if isinstance(usage, dict) else None,
            usage=_usage(usage),
            detail=short(result.get("error")),
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        change = {"path": edit.path, "old_text": edit.old, "new_text": edit.new}
        return (Line(tool="edit_file", arguments=change), Line(text="The line is changed."))

    def presses(self, press: Press) -> Sequence[Line]:
        return playwright_mcp.presses(press, _PLAYWRIGHT)

    def forbidden(self, kind: str) -> Forbidden:
        return Forbidden(Line(tool="spawn", arguments={"task": "look around"}), r"not found|[Uu]nknown tool")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="exec", arguments={"command": "ls"})


def _generation(model: Model) -> dict[str, Any]:
    given: dict[str, Any] = {"model": model.upstream_name}
    if model.temperature is not None:
        given["temperature"] = model.temperature
    if model.max_tokens is not None:
        given["maxTokens"] = model.max_tokens
    if model.thinking_level is not None:
        off = model.thinking_level is ThinkingLevel.OFF
        given["reasoningEffort"] = "none" if off else model.thinking_level.value
    return given


def _coding_tools() -> dict[str, Any]:
    return {"exec": {"timeout": SHELL_TIMEOUT_S}, **_WITHOUT}


def _web_tools(context: RunContext, runtime: Runtime) -> dict[str, Any]:
    command, *arguments = playwright_mcp.server_command(context, runtime)
    server = {"command": command, "args": arguments, "toolTimeout": SHELL_TIMEOUT_S}
    return {
        # allowPatterns hold only where nanobot restricts itself to a directory.
        "restrictToWorkspace": True,
        "exec": {"timeout": SHELL_TIMEOUT_S, "allowPatterns": [_READ_ONLY]},
        "mcpServers": {"playwright": server},
        **_WITHOUT,
    }


_WITHOUT = {
    "web": {"enable": False},
    "cliApps": {"enable": False},
    "my": {"enable": False},
    "imageGeneration": {"enabled": False},
}


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    read, written = count(value.get("cache_read_tokens")), count(value.get("cache_write_tokens"))
    return Usage(
        input=max(0, count(value.get("input_tokens")) - read - written),
        cache_read=read,
        cache_write=written,
        output=count(value.get("output_tokens")),
    )
