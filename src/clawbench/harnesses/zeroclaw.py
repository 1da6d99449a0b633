"""ZeroClaw, by its single message mode."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, json_lines, short
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line
from clawbench.harnesses.runtimes import CargoPart, Part, Runtime
from clawbench.harnesses.tool_policy import SHELL_TIMEOUT_S
from clawbench.models import ApiType
from clawbench.results import Usage

_STATE = ".zeroclaw/workspace/state"
_TRACE, _COSTS = f"{_STATE}/runtime-trace.jsonl", f"{_STATE}/costs.jsonl"
_PROVIDERS = {
    ApiType.OPENAI_COMPLETIONS: ("custom", "/v1"),
    ApiType.ANTHROPIC_MESSAGES: ("anthropic-custom", ""),
}
_TOOLS = ("shell", "file_read", "file_write", "file_edit", "glob_search", "content_search")
_REFUSED = (
    *("memory_recall", "web_search_tool", "web_fetch", "image_info", "weather", "browser", "browser_open"),
    "calculator",
)
"""Approved by default, whatever else is approved; like all other tools they are to be asked for, and there is
nobody to say yes."""
_SWITCHED_OFF = ("web_fetch", "web_search", "http_request", "browser", "backup", "cron", "scheduler")
_MANY = 1_000_000
_TURNS = 500
"""Where the run has no limit: its own is ten."""
_ADVICE = """# Where you work
The repository is in {workspace}, not here. Use absolute paths with file tools, and begin shell commands with
`cd {workspace} && `.
"""


class ZeroClawHarness(ProgramHarness):
    name = "zeroclaw"
    summary = "ZeroClaw, built from its crate"
    kinds = frozenset({"coding"})
    tried = ("0.6.9",)
    apis = tuple(_PROVIDERS)
    settings = frozenset({Setting.TEMPERATURE, Setting.MAX_TOKENS, Setting.TURNS, Setting.COMMAND_TIME})
    transcripts = (_TRACE, _COSTS)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        return (CargoPart(self.name, "zeroclawlabs", str(self.version), "zeroclaw"),)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        write_home(context, ".zeroclaw/config.toml", _toml(_config(context)))
        # What lies in its own workspace becomes part of its instructions; the repository stays clean.
        write_home(context, ".zeroclaw/workspace/AGENTS.md", _ADVICE.format(workspace=context.workspace))
        program = runtime[self.name].path("bin/zeroclaw")
        argv = [program, "agent", "--config-dir", f"{context.home}/.zeroclaw", "-m", prompt]
        return Launch(argv, {"RUST_LOG": "warn", "NO_COLOR": "1"})

    def examine(self, leftovers: Leftovers) -> Evidence:
        trace = list(json_lines(leftovers.read(_TRACE) or b""))
        kinds = [str(event.get("event_type")) for event in trace]
        costs = list(json_lines(leftovers.read(_COSTS) or b""))
        errors = leftovers.errors().strip()
        return Evidence(
            outcome=_outcome(kinds, leftovers, errors),
            answer=short(leftovers.text().strip()),
            tool_calls=kinds.count("tool_call_result"),
            turns=len(costs) or None,
            usage=sum((_usage(record.get("usage")) for record in costs), Usage()) if costs else None,
            detail=short(errors[-500:]),
        )

    def _notices(self, context: RunContext) -> list[str]:
        notices = super()._notices(context)
        if context.model.max_tokens is not None and context.model.api_type is ApiType.ANTHROPIC_MESSAGES:
            notices.append(
                f"zeroclaw asks this API for 4096 tokens: {context.model.max_tokens} was not passed on"
            )
        return notices

    def edits(self, edit: Edit) -> Sequence[Line]:
        arguments = {"path": edit.path, "old_string": edit.old, "new_string": edit.new}
        return (Line(tool="file_edit", arguments=arguments), Line(text="The line is changed."))

    def forbidden(self, kind: str) -> Forbidden:
        line = Line(tool="web_fetch", arguments={"url": "http://example.org/"})
        return Forbidden(line, r"Denied by user|Unknown tool")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="shell", arguments={"command": "ls"})


def _config(context: RunContext) -> dict[str, object]:
    model = context.model
    provider, suffix = _PROVIDERS[model.api_type]
    given: dict[str, object] = {
        "default_provider": f"{provider}:{gateway_url(context)}{suffix}",
        "default_model": model.upstream_name,
        "api_key": context.token,
        "autonomy": {
            "level": "supervised",
            "workspace_only": False,
            "allowed_commands": ["*"],
            "forbidden_paths": [],
            "block_high_risk_commands": False,
            "require_approval_for_medium_risk": False,
            "auto_approve": list(_TOOLS),
            "always_ask": list(_REFUSED),
            "max_actions_per_hour": _MANY,
            "max_cost_per_day_cents": _MANY,
            "shell_timeout_secs": SHELL_TIMEOUT_S,
        },
        "shell_tool": {"timeout_secs": SHELL_TIMEOUT_S},
        "agent": {
            "max_tool_iterations": context.max_turns or _TURNS,
            "max_context_tokens": 128_000,
            "max_history_messages": _MANY,
        },
        "memory": {"backend": "none", "auto_save": False},
        "cost": {"enabled": True, "daily_limit_usd": 1e6, "monthly_limit_usd": 1e6},
        "observability": {"backend": "none", "runtime_trace_mode": "full"},
        "secrets": {"encrypt": False},
        "security.sandbox": {"backend": "none"},
        "security.audit": {"enabled": False},
        "reliability": {"provider_retries": 4},
        **{name: {"enabled": False} for name in _SWITCHED_OFF},
    }
    if model.temperature is not None:
        given["default_temperature"] = float(model.temperature)
    if model.max_tokens is not None:
        given["provider_max_tokens"] = model.max_tokens
    return given


def _toml(config: Mapping[str, object]) -> str:
    """Plain values first, then tables of plain values; JSON's are TOML's."""
    plain = [_line(key, value) for key, value in config.items() if not isinstance(value, dict)]
    for name, table in config.items():
        if isinstance(table, dict):
            plain += ["", f"[{name}]", *(_line(key, value) for key, value in table.items())]
    return "\n".join(plain) + "\n"


def _line(key: str, value: object) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"  # TOML has no pairs of surrogates


def _outcome(kinds: Sequence[str], leftovers: Leftovers, errors: str) -> Outcome | None:
    if "tool_loop_exhausted" in kinds or "aborted by loop detector" in errors:
        return Outcome.TURN_LIMIT
    if leftovers.ended is None or not kinds:
        return None
    if leftovers.ended.exit_code != 0:
        return Outcome.MODEL_ERROR if "provider" in errors.lower() else Outcome.ERROR
    return Outcome.STOP


def _usage(value: object) -> Usage:
    """It does not tell what was cached from the rest."""
    said = value if isinstance(value, dict) else {}
    return Usage(input=count(said.get("input_tokens")), output=count(said.get("output_tokens")))
