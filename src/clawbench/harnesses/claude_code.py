"""Claude Code, by its print mode."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from clawbench.harnesses import playwright_mcp
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.npm_programs import LAST_ATTEMPT, npm_platform, reading
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.read_only_shell import check_hooks
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import NpmPart, Part, Runtime
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS, SHELL_TIMEOUT_S
from clawbench.models import ApiType, ThinkingLevel
from clawbench.results import Usage

_PLAYWRIGHT = "mcp__playwright"
_QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "ENABLE_TOOL_SEARCH": "false",
}
_EFFORT: Mapping[ThinkingLevel | None, str] = {
    ThinkingLevel.MINIMAL: "low",
    ThinkingLevel.LOW: "low",
    ThinkingLevel.MEDIUM: "medium",
    ThinkingLevel.HIGH: "high",
    ThinkingLevel.XHIGH: "xhigh",
}


class ClaudeCodeHarness(ProgramHarness):
    name = "claude-code"
    summary = "Anthropic's Claude Code"
    kinds = frozenset({"web", "coding"})
    tried = ("2.1.325",)
    apis = (ApiType.ANTHROPIC_MESSAGES,)
    settings = frozenset({Setting.THINKING, Setting.MAX_TOKENS, Setting.TURNS, Setting.COMMAND_TIME})
    transcripts = (".claude/projects/*/*.jsonl",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        own = NpmPart(self.name, "@anthropic-ai/claude-code", str(self.version))
        return (own, *playwright_mcp.PARTS) if kind != "coding" else (own,)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        prompt_file = write_home(context, "prompt.txt", prompt)
        program = runtime[self.name].path(f"node_modules/@anthropic-ai/claude-code-{npm_platform()}/claude")
        options = ["-p", "--model", context.model.upstream_name, *_OUTPUT, *_OWN_SETTINGS]
        options += self._tools(context, runtime)
        if effort := _EFFORT.get(context.model.thinking_level):
            options += ["--effort", effort]
        if context.max_turns is not None:
            options += ["--max-turns", str(context.max_turns)]
        return Launch(reading(prompt_file, [program, *options]), _environment(context))

    def _tools(self, context: RunContext, runtime: Runtime) -> list[str]:
        if context.kind == "coding":
            return ["--tools", "Bash,Edit,Read,Write,Glob,Grep", "--allowedTools", "Bash,Edit,Read,Write"]
        command, *arguments = playwright_mcp.server_command(context, runtime)
        servers = {"mcpServers": {"playwright": {"type": "stdio", "command": command, "args": arguments}}}
        config = write_home(context, "mcp.json", json.dumps(servers))
        allowed = ",".join(("Read", _PLAYWRIGHT, *(f"Bash({name}:*)" for name in READ_ONLY_COMMANDS)))
        refused = ",".join(f"{_PLAYWRIGHT}__{name}" for name in playwright_mcp.CODE_TOOLS)
        tools = ["--tools", "Bash,Read", "--allowedTools", allowed, "--disallowedTools", refused]
        # Its rules know commands by how they begin, not by their options.
        only_reading = ["--settings", json.dumps(check_hooks(context, runtime, "Bash"))]
        return ["--mcp-config", config, "--add-dir", "/my-info", *tools, *only_reading]

    def examine(self, leftovers: Leftovers) -> Evidence:
        result: dict[str, object] = {}
        calls = 0
        for item in leftovers.json_lines():
            if item.get("type") == "assistant":
                calls += _tool_calls(item)
            elif item.get("type") == "result":
                result = item
        if not result:
            return Evidence(detail=short(leftovers.errors().strip()))
        return Evidence(
            outcome=_outcome(result),
            answer=short(result.get("result")),
            tool_calls=calls,
            turns=_turns(result),
            usage=_usage(result.get("usage")),
            cost_usd=_cost(result.get("total_cost_usd")),
            detail=short(result.get("result")) if result.get("is_error") else "",
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (
            Line(tool="Bash", arguments={"command": edit.command, "description": "change the line"}),
            Line(text="The line is changed."),
        )

    def presses(self, press: Press) -> Sequence[Line]:
        return playwright_mcp.presses(press, f"{_PLAYWRIGHT}__")

    def forbidden(self, kind: str) -> Forbidden:
        line = Line(tool="WebFetch", arguments={"url": "http://example.org/", "prompt": "read it"})
        return Forbidden(line, r"No such tool|not available|permission")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="Bash", arguments={"command": "ls", "description": "look around"})


_OUTPUT = ("--output-format", "stream-json", "--verbose", "--strict-mcp-config")
_OWN_SETTINGS = ("--setting-sources", "user")
"""The repository's `.claude/` would run hooks, and could name another model or address."""


def _environment(context: RunContext) -> dict[str, str]:
    model = context.model
    given = {
        "CLAUDE_CONFIG_DIR": f"{context.home}/.claude",
        "ANTHROPIC_BASE_URL": gateway_url(context),
        "ANTHROPIC_API_KEY": context.token,
        "ANTHROPIC_MODEL": model.upstream_name,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": model.upstream_name,
        "BASH_DEFAULT_TIMEOUT_MS": str(SHELL_TIMEOUT_S * 1000),
        "BASH_MAX_TIMEOUT_MS": str(SHELL_TIMEOUT_S * 1000),
        "CLAUDE_CODE_MAX_RETRIES": str(LAST_ATTEMPT),
        **_QUIET,
    }
    if model.thinking_level is ThinkingLevel.OFF:
        given["MAX_THINKING_TOKENS"] = "0"
    if model.max_tokens is not None:
        given["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(model.max_tokens)
    return given


def _tool_calls(item: dict[str, object]) -> int:
    message = item.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return 0
    return sum(isinstance(part, dict) and part.get("type") == "tool_use" for part in content)


def _outcome(result: dict[str, object]) -> Outcome:
    if result.get("subtype") == "error_max_turns":
        return Outcome.TURN_LIMIT
    if result.get("is_error"):
        return Outcome.MODEL_ERROR
    return Outcome.STOP if result.get("subtype") == "success" else Outcome.ERROR


def _turns(result: dict[str, object]) -> int:
    """It counts the turn that it was not allowed to take."""
    return max(0, count(result.get("num_turns")) - (_outcome(result) is Outcome.TURN_LIMIT))


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(
        input=count(value.get("input_tokens")),
        cache_read=count(value.get("cache_read_input_tokens")),
        cache_write=count(value.get("cache_creation_input_tokens")),
        output=count(value.get("output_tokens")),
    )


def _cost(value: object) -> float | None:
    """JSON's numbers may be larger than any float, and Python's JSON knows NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return float(value)
