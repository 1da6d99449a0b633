"""Hermes Agent, by its single-query mode."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Sequence
from typing import Any

import yaml

from clawbench.harnesses import playwright_mcp
from clawbench.harnesses.driven import drive
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, json_lines, short
from clawbench.harnesses.program import (
    Launch,
    ProgramHarness,
    Setting,
    browser_url,
    gateway_url,
    write_home,
)
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import NpmPart, Part, PythonPart, Runtime
from clawbench.harnesses.tool_policy import SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import Usage

AGENT_BROWSER = NpmPart("agent-browser", "agent-browser", "0.41.0")
"""What Hermes's own browser tools work with."""
_STATE = ".hermes"
_WRITING = ("write_file", "patch")
"""Of the toolset `file`, which has the reading as well."""
_PLAYWRIGHT = "mcp__playwright__"
_API_MODES = {
    ApiType.OPENAI_COMPLETIONS: ("chat_completions", "/v1"),
    ApiType.ANTHROPIC_MESSAGES: ("anthropic_messages", ""),
    ApiType.OPENAI_RESPONSES: ("codex_responses", "/v1"),
}
_QUIET = {
    "compression": {"enabled": False},
    "approvals": {"mode": "off"},
    "memory": {"memory_enabled": False, "user_profile_enabled": False},
    "display": {"show_reasoning": False, "streaming": False},
    # Its scanner of commands would be fetched at the first use.
    "security": {"tirith_enabled": False, "allow_lazy_installs": False},
}


class HermesHarness(ProgramHarness):
    name = "hermes"
    summary = "Nous Research's Hermes Agent"
    kinds = frozenset({"web", "coding"})
    tried = ("0.19.0",)
    apis = tuple(_API_MODES)
    settings = frozenset(Setting)
    browser_parts: Sequence[Part] = (AGENT_BROWSER,)
    code_tools: Sequence[str] = ("browser_cdp", "browser_console")
    transcripts = (f"{_STATE}/messages.jsonl", f"{_STATE}/result.json", f"{_STATE}/state.db*")

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        own = PythonPart("hermes", "hermes-agent[mcp,anthropic]", str(self.version))
        return (own, *self.browser_parts) if kind != "coding" else (own,)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        config = _config(context)
        toolsets = ["terminal", "file"]
        env = {"HERMES_HOME": f"{context.home}/{_STATE}"}
        if context.kind == "web":
            toolsets = [self._browse(context, runtime, config, env), "file"]
        write_home(context, f"{_STATE}/config.yaml", yaml.safe_dump(config))
        options = ["--quiet", "--yolo", "--model", context.model.upstream_name]
        options += ["--toolsets", ",".join(toolsets)]
        denied = () if context.kind == "coding" else (*_WRITING, *self.code_tools)
        settings = {"options": options, "denied": denied, "record": f"{context.home}/{_STATE}"}
        return drive(context, runtime.python("hermes"), "hermes", prompt, settings, env)

    def _browse(
        self, context: RunContext, runtime: Runtime, config: dict[str, Any], env: dict[str, str]
    ) -> str:
        """Make the browser known; returns the name of the tools."""
        config["browser"] = {"cdp_url": browser_url(context), "allow_private_urls": True}
        env["PATH"] = f"{_place_agent_browser(context, runtime)}:{os.defpath}"
        return "browser"

    def examine(self, leftovers: Leftovers) -> Evidence:
        result = leftovers.json(f"{_STATE}/result.json")
        if not result:
            return Evidence(detail=short((leftovers.errors().strip() or leftovers.text().strip())[-500:]))
        messages = leftovers.read(f"{_STATE}/messages.jsonl") or b""
        calls = [message.get("tool_calls") for message in json_lines(messages)]
        return Evidence(
            outcome=_outcome(result),
            answer=short(result.get("final_response")),
            tool_calls=sum(len(made) for made in calls if isinstance(made, list)),
            turns=count(result.get("api_calls")),
            usage=_usage(result),
            detail=short(result.get("error")) or short(result.get("turn_exit_reason")),
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (
            Line(tool="terminal", arguments={"command": edit.command}),
            Line(text="The line is changed."),
        )

    def presses(self, press: Press) -> Sequence[Line]:
        return (
            Line(tool="browser_navigate", arguments={"url": press.url}),
            Line(tool="browser_snapshot"),
            Line(
                tool="browser_click",
                arguments={"ref": "@${ref}"},
                after=rf'button \\?"{press.label}\\?"[^\n]*?ref=(?P<ref>\w+)',
            ),
            Line(text="The button is pressed."),
        )

    def forbidden(self, kind: str) -> Forbidden:
        line = Line(tool="delegate_task", arguments={"goal": "look around"})
        return Forbidden(line, r"does not exist|[Uu]nknown tool")

    def keeps_busy(self, kind: str) -> Line:
        if kind == "coding":
            return Line(tool="terminal", arguments={"command": "ls"})
        return Line(tool="browser_snapshot")


class HermesMcpHarness(HermesHarness):
    """The same with a browser by MCP instead of its own tools."""

    name = "hermes-mcp"
    summary = "Hermes Agent with a browser by MCP"
    kinds = frozenset({"web"})
    browser_parts = playwright_mcp.PARTS
    code_tools = ()

    def _browse(
        self, context: RunContext, runtime: Runtime, config: dict[str, Any], env: dict[str, str]
    ) -> str:
        command, *arguments = playwright_mcp.server_command(context, runtime)
        server = {"command": command, "args": arguments, "timeout": SHELL_TIMEOUT_S, "connect_timeout": 60}
        server["tools"] = {"exclude": list(playwright_mcp.CODE_TOOLS)}
        # Usually 1.5 s: the server would often come too late for the only conversation.
        config |= {"mcp_servers": {"playwright": server}, "mcp_discovery_timeout": 60}
        return "playwright"

    def presses(self, press: Press) -> Sequence[Line]:
        return playwright_mcp.presses(press, _PLAYWRIGHT)

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool=f"{_PLAYWRIGHT}browser_snapshot")


def _config(context: RunContext) -> dict[str, Any]:
    model = context.model
    mode, suffix = _API_MODES[model.api_type]
    provider: dict[str, Any] = {
        "name": "clawbench",
        "base_url": gateway_url(context) + suffix,
        "api_key": context.token,
        "api_mode": mode,
        "default_model": model.upstream_name,
        "models": {model.upstream_name: {"context_length": 200_000}},
    }
    if model.temperature is not None:
        provider["extra_body"] = {"temperature": model.temperature}
    chosen: dict[str, Any] = {"default": model.upstream_name, "provider": "clawbench"}
    if model.max_tokens is not None:
        chosen["max_tokens"] = model.max_tokens
    return {
        "model": chosen,
        "providers": {"clawbench": provider},
        "agent": {"api_max_retries": 4, **_agent(model, context.max_turns)},
        "terminal": {"backend": "local", "timeout": SHELL_TIMEOUT_S, "auto_source_bashrc": False},
        **_QUIET,
    }


def _agent(model: Model, max_turns: int | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if max_turns is not None:
        given["max_turns"] = max_turns
    if model.thinking_level is not None:
        off = model.thinking_level is ThinkingLevel.OFF
        given["reasoning_effort"] = "none" if off else model.thinking_level.value
    return given


def _place_agent_browser(context: RunContext, runtime: Runtime) -> str:
    """The package's program is not executable, as its install script was not run: a copy in HOME is."""
    machine = "arm64" if platform.machine() in ("aarch64", "arm64") else "x64"
    inside = f"node_modules/agent-browser/bin/agent-browser-linux-musl-{machine}"
    target = context.sandbox.home / "bin" / "agent-browser"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(runtime[AGENT_BROWSER.name].path(inside), target)
    target.chmod(0o755)
    return f"{context.home}/bin"


def _outcome(result: dict[str, Any]) -> Outcome:
    reason = str(result.get("turn_exit_reason") or "")
    if reason.startswith(("max_iterations", "budget_exhausted", "error_near_max_iterations")):
        return Outcome.TURN_LIMIT
    if result.get("failed") or reason.startswith("all_retries_exhausted"):
        return Outcome.MODEL_ERROR
    if result.get("completed") or reason.startswith(("text_response", "empty_response", "fallback_prior")):
        return Outcome.STOP
    return Outcome.ERROR


def _usage(result: dict[str, Any]) -> Usage:
    """`input_tokens` is without what was cached."""
    return Usage(
        input=count(result.get("input_tokens")),
        cache_read=count(result.get("cache_read_tokens")),
        cache_write=count(result.get("cache_write_tokens")),
        output=count(result.get("output_tokens")),
        reasoning=count(result.get("reasoning_tokens")),
    )
