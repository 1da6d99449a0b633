"""mini-swe-agent, by its command `mini`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from clawbench.harnesses.driven import python_program
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line
from clawbench.harnesses.runtimes import Part, PythonPart, Runtime
from clawbench.harnesses.thinking import anthropic_budget, thinks
from clawbench.harnesses.tool_policy import SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model
from clawbench.results import Usage

_TRAJECTORY = "trajectory.json"
_LITELLM = {
    ApiType.OPENAI_COMPLETIONS: ("openai", "/v1", "litellm"),
    ApiType.ANTHROPIC_MESSAGES: ("anthropic", "", "litellm"),
    ApiType.OPENAI_RESPONSES: ("openai", "/v1", "litellm_response"),
}
"""LiteLLM's provider, what follows the gateway's address, mini's class of model."""
_QUIET = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "5",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
}
_OUTCOMES = {
    "Submitted": Outcome.STOP,
    "LimitsExceeded": Outcome.TURN_LIMIT,
    "TimeExceeded": Outcome.TIME_LIMIT,
    "RepeatedFormatError": Outcome.STOP,
}
"""The last: the model went on without calls of the tool."""
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class MiniSweAgentHarness(ProgramHarness):
    name = "mini-swe-agent"
    summary = "mini-swe-agent: one tool, a shell"
    kinds = frozenset({"coding"})
    tried = ("2.4.6",)
    apis = tuple(_LITELLM)
    settings = frozenset(Setting)
    transcripts = (_TRAJECTORY,)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        return (PythonPart(self.name, "mini-swe-agent", str(self.version), beside=("mcp==2.3.0",)),)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        config = write_home(context, "bench.yaml", yaml.safe_dump(_config(context, prompt)))
        argv = python_program(runtime.python(self.name), "-m", "minisweagent.run.mini")
        argv += ["-y", "--exit-immediately", "-c", "mini.yaml", "-c", config]
        argv += ["-o", f"{context.home}/{_TRAJECTORY}"]
        # mini would take a `mini.yaml` of the directory it starts in for its own.
        env = {"MSWEA_GLOBAL_CONFIG_DIR": f"{context.home}/.mini", **_QUIET}
        return Launch(argv, env, cwd=context.home)

    def examine(self, leftovers: Leftovers) -> Evidence:
        trajectory = leftovers.json(_TRAJECTORY)
        info = trajectory.get("info")
        if not isinstance(info, dict):
            return Evidence(detail=short(leftovers.errors().strip()[-500:]))
        status = str(info.get("exit_status") or "")
        answers = list(_answers(trajectory.get("messages")))
        return Evidence(
            outcome=_OUTCOMES.get(status, Outcome.ERROR) if status else None,
            answer=_text(answers[-1]) if answers else "",
            tool_calls=sum(_made_calls(message) for message in _messages(trajectory.get("messages"))),
            turns=len(answers),
            usage=sum((_usage(answer.get("usage")) for answer in answers), Usage()),
            detail=status,
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (
            Line(tool="bash", arguments={"command": edit.command}),
            Line(tool="bash", arguments={"command": _SUBMIT}),
        )

    def forbidden(self, kind: str) -> Forbidden:
        refusal = r"Unknown tool 'web_search'"
        return Forbidden(Line(tool="web_search", arguments={"command": "tea"}, shown=refusal), refusal)

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="bash", arguments={"command": "ls"})


def _config(context: RunContext, prompt: str) -> dict[str, Any]:
    """Merged over mini's own `mini.yaml`, which has its prompts."""
    provider, suffix, model_class = _LITELLM[context.model.api_type]
    return {
        "run": {"task": prompt},
        "agent": {"agent_class": "default", "step_limit": context.max_turns or 0, "cost_limit": 0},
        "environment": {"cwd": context.workspace, "timeout": SHELL_TIMEOUT_S},
        "model": {
            "model_class": model_class,
            "model_name": f"{provider}/{context.model.upstream_name}",
            "cost_tracking": "ignore_errors",
            "model_kwargs": {
                "api_base": gateway_url(context) + suffix,
                "api_key": context.token,
                "drop_params": True,
                "num_retries": 0,
                **_generation(context.model),
            },
        },
    }


def _generation(model: Model) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if model.max_tokens is not None:
        responses = model.api_type is ApiType.OPENAI_RESPONSES
        given["max_output_tokens" if responses else "max_tokens"] = model.max_tokens
    if not thinks(model):
        if model.temperature is not None:
            given["temperature"] = model.temperature
        return given
    if model.api_type is ApiType.ANTHROPIC_MESSAGES:
        # Anthropic takes no temperature beside thinking.
        budget, tokens = anthropic_budget(model)
        thinking = {"type": "enabled", "budget_tokens": budget}
        return {"max_tokens": tokens, "thinking": thinking, "allowed_openai_params": ["thinking"]}
    if model.temperature is not None:
        given["temperature"] = model.temperature
    effort = str(model.thinking_level)
    if model.api_type is ApiType.OPENAI_RESPONSES:
        return given | {"reasoning": {"effort": effort}, "allowed_openai_params": ["reasoning"]}
    return given | {"reasoning_effort": effort, "allowed_openai_params": ["reasoning_effort"]}


def _messages(value: object) -> Iterator[dict[str, Any]]:
    return (item for item in (value if isinstance(value, list) else []) if isinstance(item, dict))


def _answers(messages: object) -> Iterator[dict[str, Any]]:
    """The API's answers, as each message has its own beside it (chat) or is it (responses)."""
    for message in _messages(messages):
        extra = message.get("extra")
        answer = extra.get("response") if isinstance(extra, dict) else None
        if isinstance(answer, dict):
            yield answer
        elif message.get("object") == "response":
            yield message


def _text(answer: dict[str, Any]) -> str:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return short(message.get("content")) if isinstance(message, dict) else short(answer.get("output_text"))


def _made_calls(message: dict[str, Any]) -> int:
    extra = message.get("extra")
    actions = extra.get("actions") if isinstance(extra, dict) else None
    return len(actions) if isinstance(actions, list) else 0


def _usage(value: object) -> Usage:
    """LiteLLM's, in which what was cached is part of the prompt, in either API's words."""
    usage: dict[str, Any] = value if isinstance(value, dict) else {}
    prompt = count(usage.get("prompt_tokens")) or count(usage.get("input_tokens"))
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    details = details if isinstance(details, dict) else {}
    read, written = count(details.get("cached_tokens")), count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input=max(0, prompt - read - written),
        cache_read=read,
        cache_write=written,
        output=count(usage.get("completion_tokens")) or count(usage.get("output_tokens")),
    )
