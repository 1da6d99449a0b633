"""OpenAI's Codex CLI, by `codex exec`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clawbench.harnesses import playwright_mcp
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.npm_programs import CONTEXT_WINDOW, LAST_ATTEMPT, npm_platform, reading
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.read_only_shell import check_hooks
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import NpmPart, Part, Runtime
from clawbench.models import ApiType, ThinkingLevel
from clawbench.results import Usage

_KEY = "GATEWAY_TOKEN"
_TRIPLES = {"linux-x64": "x86_64-unknown-linux-musl", "linux-arm64": "aarch64-unknown-linux-musl"}
_CHECKED = "Bash|apply_patch"
"""It has no list of allowed commands, but asks a hook before each. A patch, which it offers to models that it
knows, comes in the place of a command, and is none that is allowed."""
_FEATURES_OFF = (
    *("multi_agent", "goals", "memories", "apps", "plugins", "image_generation", "view_image"),
    *("skill_search", "tool_suggest", "remote_plugin", "browser_use", "computer_use", "sleep_tool"),
    *("in_app_browser", "shell_snapshot", "enable_request_compression", "daemon_auto_start"),
)


class CodexHarness(ProgramHarness):
    name = "codex"
    summary = "OpenAI's Codex CLI"
    kinds = frozenset({"web", "coding"})
    tried = ("0.166.0",)
    apis = (ApiType.OPENAI_RESPONSES,)
    settings = frozenset({Setting.THINKING, Setting.TEMPERATURE, Setting.MAX_TOKENS})  # the gateway adds two
    transcripts = (".codex/sessions/*/*/*/rollout-*.jsonl",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        own = NpmPart(self.name, "@openai/codex", str(self.version))
        return (own, *playwright_mcp.PARTS) if kind != "coding" else (own,)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        config = _config(context)
        if context.kind == "web":
            config["mcp_servers"] = {"playwright": _playwright(context, runtime)}
            config["allow_login_shell"] = False  # it would run what is in HOME before the command
            hooks = check_hooks(context, runtime, _CHECKED)
            write_home(context, ".codex/hooks.json", json.dumps(hooks))
        write_home(context, ".codex/config.toml", _toml(config))
        here = npm_platform()
        program = f"node_modules/@openai/codex-{here}/vendor/{_TRIPLES.get(here, here)}/bin/codex"
        options = ["exec", "--json", "--skip-git-repo-check", "--color", "never"]
        if context.kind == "web":
            options += ["--dangerously-bypass-hook-trust"]  # there is no other hook than ours
        prompt_file = write_home(context, "prompt.txt", prompt)
        argv = reading(prompt_file, [runtime[self.name].path(program), *options, "-"])
        return Launch(argv, {_KEY: context.token, "CODEX_HOME": f"{context.home}/.codex"})

    def examine(self, leftovers: Leftovers) -> Evidence:
        answer, calls, outcome, failure = "", 0, None, ""
        usage: Usage | None = None
        for event in leftovers.json_lines():
            item = event.get("item")
            match event.get("type"):
                case "item.completed" if isinstance(item, dict):
                    said = item.get("type") == "agent_message"
                    answer = short(item.get("text")) if said else answer
                    calls += item.get("type") in _ACTIONS
                case "turn.completed":
                    outcome, usage = Outcome.STOP, _usage(event.get("usage"))
                case "turn.failed":
                    outcome, failure = Outcome.MODEL_ERROR, _message(event.get("error"))
        detail = failure if outcome else short(leftovers.errors().strip())
        return Evidence(outcome=outcome, answer=answer, tool_calls=calls, usage=usage, detail=detail)

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (
            Line(tool="exec_command", arguments={"cmd": edit.command}),
            Line(text="The line is changed."),
        )

    def presses(self, press: Press) -> Sequence[Line]:
        return playwright_mcp.presses(press, "mcp__playwright__")

    def forbidden(self, kind: str) -> Forbidden:
        return Forbidden(Line(tool="web_search", arguments={"query": "example"}), "unsupported call")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="exec_command", arguments={"cmd": "ls"})


_ACTIONS = frozenset({"command_execution", "file_change", "mcp_tool_call"})


def _config(context: RunContext) -> dict[str, Any]:
    thinking = context.model.thinking_level
    effort = "none" if thinking is ThinkingLevel.OFF else thinking and thinking.value
    return {
        "model": context.model.upstream_name,
        "model_provider": "gateway",
        "model_context_window": CONTEXT_WINDOW,
        **({} if effort is None else {"model_reasoning_effort": effort}),
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",  # the run's sandbox is around it
        "web_search": "disabled",
        "check_for_update_on_startup": False,
        "model_providers": {"gateway": _provider(context)},
        "analytics": {"enabled": False},
        "otel": {"exporter": "none"},
        "history": {"persistence": "none"},
        "features": dict.fromkeys(_FEATURES_OFF, False),
        "skills": {"include_instructions": False, "bundled": {"enabled": False}},
        "projects": {context.workspace: {"trust_level": "untrusted"}},
    }


def _provider(context: RunContext) -> dict[str, Any]:
    return {
        "name": "gateway",
        "base_url": f"{gateway_url(context)}/v1",
        "env_key": _KEY,
        "wire_api": "responses",
        "request_max_retries": LAST_ATTEMPT,
        "stream_max_retries": LAST_ATTEMPT,
        "stream_idle_timeout_ms": 300_000,
    }


def _playwright(context: RunContext, runtime: Runtime) -> dict[str, Any]:
    command, *arguments = playwright_mcp.server_command(context, runtime)
    return {
        "command": command,
        "args": arguments,
        "required": True,  # else it may begin without
        "startup_timeout_sec": 60,
        "tool_timeout_sec": 120,
        "default_tools_approval_mode": "approve",
        "disabled_tools": list(playwright_mcp.CODE_TOOLS),
    }


def _toml(table: Mapping[str, Any], name: str = "") -> str:
    """Written like JSON, whose strings, numbers, truth values and lists of these are TOML's too."""
    plain = {json.dumps(key): value for key, value in table.items() if not isinstance(value, dict)}
    lines = [f"[{name}]"] if name else []
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    within = f"{name}." if name else ""
    inner = {json.dumps(key): value for key, value in table.items() if isinstance(value, dict)}
    return "\n".join([*lines, *(_toml(value, within + key) for key, value in inner.items()), ""])


def _message(error: object) -> str:
    return short(error.get("message")) if isinstance(error, dict) else ""


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    cached, output = count(value.get("cached_input_tokens")), count(value.get("output_tokens"))
    return Usage(
        input=max(0, count(value.get("input_tokens")) - cached),
        cache_read=cached,
        output=output,
        reasoning=min(output, count(value.get("reasoning_output_tokens"))),
    )
