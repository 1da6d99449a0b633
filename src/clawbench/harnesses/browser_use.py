"""browser-use, as a library."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clawbench.harnesses.driven import drive
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, browser_url, gateway_url
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Forbidden, Line, Press
from clawbench.harnesses.runtimes import Part, PythonPart, Runtime
from clawbench.harnesses.thinking import anthropic_budget, thinks
from clawbench.models import ApiType
from clawbench.results import Usage
from clawbench.tasks.prompts import MY_INFO

_STEPS = 100
"""What browser-use itself stops at."""
_STEP_TIMEOUT_S = 300
_REFUSAL = r"Agent failed to output in the right format"
_EXCLUDED = ("search", "write_file", "replace_file", "save_as_pdf", "evaluate")
_QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_VERSION_CHECK": "false",
    "SKIP_LLM_API_KEY_VERIFICATION": "true",
}


class BrowserUseHarness(ProgramHarness):
    name = "browser-use"
    summary = "browser-use"
    kinds = frozenset({"web"})
    tried = ("0.13.14",)
    apis = (ApiType.OPENAI_COMPLETIONS, ApiType.ANTHROPIC_MESSAGES)
    settings = frozenset(Setting)
    transcripts = ("history.json",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        return (PythonPart(self.name, "browser-use", str(self.version)),)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        anthropic = context.model.api_type is ApiType.ANTHROPIC_MESSAGES
        settings = {
            "cdp_url": browser_url(context),
            "provider": "anthropic" if anthropic else "openai",
            "model": _anthropic(context) if anthropic else _openai(context),
            "exclude": _EXCLUDED,
            "files": MY_INFO,
            "scratch": f"{context.home}/scratch",
            "history": f"{context.home}/history.json",
            "max_steps": context.max_turns or _STEPS,
            "step_timeout": _STEP_TIMEOUT_S,
        }
        env = {"BROWSER_USE_CONFIG_DIR": f"{context.home}/.browser-use", **_QUIET}
        return drive(context, runtime.python(self.name), "browser_use", prompt, settings, env)

    def examine(self, leftovers: Leftovers) -> Evidence:
        result: dict[str, Any] = {}
        for item in leftovers.json_lines():
            if item.get("type") == "result":
                result = item
        if not result:
            return Evidence(detail=short(leftovers.errors().strip()[-500:]))
        errors = result.get("errors")
        steps, actions = count(result.get("steps")), result.get("actions")
        usage = result.get("usage")
        last = errors[-1] if isinstance(errors, list) and errors else None
        return Evidence(
            outcome=_outcome(result),
            answer=short(result.get("answer")),
            tool_calls=len(actions) if isinstance(actions, list) else 0,
            turns=count(usage.get("entry_count")) if isinstance(usage, dict) else steps,
            usage=_usage(usage),
            detail="" if result.get("done") else short(last),
        )

    def presses(self, press: Press) -> Sequence[Line]:
        return (
            _step("Open the page.", {"navigate": {"url": press.url, "new_tab": False}}),
            _step(
                "Press the button.",
                {"click": {"index": "${index:int}"}},
                after=rf"\[(?P<index>\d+)\]<button[^>]*>\s*{press.label}",
            ),
            _step("The work is done.", {"done": {"text": "The button is pressed.", "success": True}}),
        )

    def forbidden(self, kind: str) -> Forbidden:
        line = _step("Write a note.", {"write_file": {"file_name": "note.md", "content": "tea"}})
        return Forbidden(replace(line, shown=_REFUSAL), _REFUSAL)

    def keeps_busy(self, kind: str) -> Line:
        return _step("Wait.", {"wait": {"seconds": 1}})


def _step(goal: str, action: dict[str, Any], after: str | None = None) -> Line:
    """The answer as JSON, which chat completions have as text and Anthropic's API as a call."""
    said = {
        "thinking": goal,
        "evaluation_previous_goal": "Unknown",
        "memory": goal,
        "next_goal": goal,
        "action": [action],
    }
    text = json.dumps(said).replace('"${index:int}"', "${index}")
    return Line(text=text, tool="AgentOutput", arguments=said, after=after, shown=rf"<step>[^<]*{goal}")


def _openai(context: RunContext) -> dict[str, Any]:
    model = context.model
    given: dict[str, Any] = {
        "model": model.upstream_name,
        "base_url": f"{gateway_url(context)}/v1",
        "api_key": context.token,
        "temperature": model.temperature,
        "frequency_penalty": None,
        "max_retries": 4,
        "timeout": _STEP_TIMEOUT_S,
        "reasoning_models": [],
    }
    if model.max_tokens is not None:
        given["max_completion_tokens"] = model.max_tokens
    if thinks(model):
        # Effort is sent for models of this list alone, and no temperature then.
        given |= {"reasoning_effort": str(model.thinking_level), "reasoning_models": [model.upstream_name]}
    return given


def _anthropic(context: RunContext) -> dict[str, Any]:
    """The temperature is left to the gateway: browser-use 0.13 with its Anthropic client breaks on one."""
    model = context.model
    given: dict[str, Any] = {
        "model": model.upstream_name,
        "base_url": gateway_url(context),
        "api_key": context.token,
        "max_retries": 4,
        "timeout": _STEP_TIMEOUT_S,
    }
    if model.max_tokens is not None:
        given["max_tokens"] = model.max_tokens
    if thinks(model):
        budget, given["max_tokens"] = anthropic_budget(model)
        given["thinking"] = {"type": "enabled", "budget_tokens": budget}
    return given


def _outcome(result: dict[str, Any]) -> Outcome:
    """Whether it was successful is the model's own opinion, and not asked for here."""
    if result.get("done"):
        return Outcome.STOP
    errors = result.get("errors")
    last = str(errors[-1]) if isinstance(errors, list) and errors else ""
    if not last or "maximum steps" in last.lower():
        return Outcome.TURN_LIMIT
    return Outcome.ERROR


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    read = count(value.get("total_prompt_cached_tokens"))
    return Usage(
        input=max(0, count(value.get("total_prompt_tokens")) - read),
        cache_read=read,
        output=count(value.get("total_completion_tokens")),
    )
