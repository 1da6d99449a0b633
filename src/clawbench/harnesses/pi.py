"""Pi, by its print mode with JSON events. What it has no setting for, a small extension of ours tells it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.npm_programs import ANSWER_TOKENS, CONTEXT_WINDOW, LAST_ATTEMPT, reading
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, model_id, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line
from clawbench.harnesses.runtimes import NODE, NpmPart, Part, Runtime
from clawbench.harnesses.tool_policy import SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model
from clawbench.results import Usage

_TOOLS = "read,bash,edit,write,grep,find,ls"
_BASE = {
    ApiType.OPENAI_COMPLETIONS: "/v1",
    ApiType.OPENAI_RESPONSES: "/v1",
    ApiType.ANTHROPIC_MESSAGES: "",
    ApiType.GOOGLE: "/v1beta",
}
_EXTENSION = """\
const {temperature, google, turns, shellSeconds} = %s;
let asked = 0;
export default function (pi) {
  pi.on("before_provider_request", ({payload}) => {
    // Anthropic takes no temperature beside thinking.
    if (temperature === null || (payload.thinking && payload.thinking.type !== "disabled")) return undefined;
    return google ? {...payload, config: {...payload.config, temperature}} : {...payload, temperature};
  });
  pi.on("tool_call", ({toolName, input}) => {
    if (toolName === "bash") input.timeout = Math.min(input.timeout || shellSeconds, shellSeconds);
  });
  pi.on("turn_end", ({message, toolResults}, ctx) => {
    asked += 1;
    if (turns !== null && asked >= turns && toolResults.length) ctx.abort();
  });
}
"""


class PiHarness(ProgramHarness):
    name = "pi"
    summary = "Mario Zechner's Pi coding agent"
    kinds = frozenset({"coding"})
    tried = ("0.73.1",)
    apis = tuple(_BASE)
    settings = frozenset(Setting)
    transcripts = (".pi/agent/sessions/*/*.jsonl",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        return (NpmPart(self.name, "@mariozechner/pi-coding-agent", str(self.version)), NODE)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        model = context.model
        write_home(context, ".pi/agent/models.json", json.dumps(_models(context)))
        write_home(context, ".pi/agent/settings.json", json.dumps(_SETTINGS))
        extension = write_home(context, ".pi/limits.js", _EXTENSION % json.dumps(_limits(context)))
        program = runtime[self.name].path("node_modules/@mariozechner/pi-coding-agent/dist/cli.js")
        options = ["-p", "--mode", "json", "--provider", "gateway", "--model", model_id(model)]
        options += ["--thinking", model.thinking_level.value if model.thinking_level else "off"]
        options += ["--tools", _TOOLS, "--no-extensions", "--extension", extension]
        options += ["--no-skills", "--no-prompt-templates", "--no-themes"]
        argv = reading(write_home(context, "prompt.txt", prompt), [runtime.node, program, *options])
        env = {"PI_PACKAGE_DIR": _own_package(context, Path(program).parents[1]), **_QUIET}
        return Launch(argv, env | {"PI_CODING_AGENT_DIR": f"{context.home}/.pi/agent"})

    def examine(self, leftovers: Leftovers) -> Evidence:
        answers = [message for message in map(_answer, leftovers.json_lines()) if message]
        if not answers:
            return Evidence(detail=short(leftovers.errors().strip()))
        spent = [message for message in answers if message.get("stopReason") not in ("error", "aborted")]
        outcome = _outcome(answers[-1])
        return Evidence(
            outcome=outcome,
            answer=_text(answers[-1]),
            tool_calls=sum(len(_blocks(message, "toolCall")) for message in answers),
            turns=len(spent),
            usage=sum((_usage(message.get("usage")) for message in answers), Usage()),
            detail=short(answers[-1].get("errorMessage")) if outcome is Outcome.MODEL_ERROR else "",
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        change = {"oldText": edit.old, "newText": edit.new}
        return (
            Line(tool="edit", arguments={"path": edit.path, "edits": [change]}),
            Line(text="The line is changed."),
        )

    def forbidden(self, kind: str) -> Forbidden:
        return Forbidden(Line(tool="web_fetch", arguments={"url": "http://example.org/"}), "not found")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="bash", arguments={"command": "ls"})


_SETTINGS = {
    "enableInstallTelemetry": False,
    "quietStartup": True,
    "retry": {
        "enabled": True,
        "maxRetries": LAST_ATTEMPT,
        "baseDelayMs": 1000,
        "provider": {"maxRetries": 0},
    },
}


_QUIET = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}


def _own_package(context: RunContext, package: Path) -> str:
    """Its package under another name for a project's settings: a repository's `.pi` could have another shell,
    or another system prompt."""
    place = context.sandbox.home / ".pi" / "package"
    place.mkdir(parents=True)
    for path in package.iterdir():
        if path.name != "package.json":
            (place / path.name).symlink_to(path)
    said = json.loads((package / "package.json").read_text(encoding="utf-8"))
    said["piConfig"] = {**said.get("piConfig", {}), "configDir": ".pi-of-no-project"}
    write_home(context, ".pi/package/package.json", json.dumps(said))
    return f"{context.home}/.pi/package"


def _models(context: RunContext) -> dict[str, Any]:
    model = context.model
    return {
        "providers": {
            "gateway": {
                "baseUrl": gateway_url(context) + _BASE[model.api_type],
                "api": model.api_type.value,
                "apiKey": context.token,
                "models": [_model(model)],
            }
        }
    }


def _model(model: Model) -> dict[str, Any]:
    return {
        "id": model_id(model),
        "name": model.upstream_name,
        "reasoning": model.thinking_level is not None,
        "input": ["text"],
        "contextWindow": CONTEXT_WINDOW,
        "maxTokens": model.max_tokens or ANSWER_TOKENS,
    }


def _limits(context: RunContext) -> dict[str, Any]:
    return {
        "temperature": context.model.temperature,
        "google": context.model.api_type is ApiType.GOOGLE,
        "turns": context.max_turns,
        "shellSeconds": SHELL_TIMEOUT_S,
    }


def _answer(item: dict[str, Any]) -> dict[str, Any] | None:
    message = item.get("message")
    if item.get("type") != "message_end" or not isinstance(message, dict):
        return None
    return message if message.get("role") == "assistant" else None


def _outcome(last: dict[str, Any]) -> Outcome:
    """By the last answer; nobody but our extension aborts one, or ends the work after a call of a tool."""
    match last.get("stopReason"):
        case "stop" | "length":
            return Outcome.STOP
        case "toolUse" | "aborted":
            return Outcome.TURN_LIMIT
        case "error":
            return Outcome.MODEL_ERROR
    return Outcome.ERROR


def _blocks(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def _text(message: dict[str, Any]) -> str:
    return short("\n".join(str(block.get("text", "")) for block in _blocks(message, "text")))


def _usage(value: object) -> Usage:
    if not isinstance(value, dict):
        return Usage()
    return Usage(
        input=count(value.get("input")),
        cache_read=count(value.get("cacheRead")),
        cache_write=count(value.get("cacheWrite")),
        output=count(value.get("output")),
    )
