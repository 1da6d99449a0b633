"""GenericAgent, as a library: its tree is copied for each run, because its state lives in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clawbench.harnesses.driven import drive
from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, json_lines, short
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, gateway_url, write_home
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line
from clawbench.harnesses.runtimes import Part, Runtime, SourcePart
from clawbench.harnesses.thinking import anthropic_budget, thinks
from clawbench.harnesses.tool_policy import SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model
from clawbench.results import Usage

_ERROR = "!!!Error"
"""How its text says that the model could not be reached."""
_STREAM_END = re.compile(r"^\[Output\] tokens=(\d{1,9}) stop_reason=", re.MULTILINE)
_TREE = "generic"
_RECORD = ".generic"
_BANNED = ("web_scan", "web_execute_js", "ask_user", "start_long_term_update")
_TAKEN = (".", ":(exclude).github", ":(exclude)assets/demo", ":(exclude)docs", ":(exclude)frontends")
"""The rest of the tree is 15 MB of pictures and windows."""
_REQUIREMENTS = (
    "requests==2.34.2",
    "beautifulsoup4==4.15.0",
    "bottle==0.13.4",
    "simple-websocket-server==0.4.4",
    "aiohttp==3.14.5",
)


class GenericHarness(ProgramHarness):
    name = "generic"
    summary = "GenericAgent"
    kinds = frozenset({"coding"})
    tried = ("6d2cf092641a61d0d99eaed8850be20500e3b866",)
    apis = (ApiType.OPENAI_COMPLETIONS, ApiType.ANTHROPIC_MESSAGES, ApiType.OPENAI_RESPONSES)
    settings = frozenset(Setting)
    transcripts = (f"{_RECORD}/*.json*", f"{_TREE}/temp/model_responses/*.txt")

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        repository = "lsdefine/GenericAgent"
        return (SourcePart(self.name, repository, str(self.version), _REQUIREMENTS, _TAKEN),)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        source = Path(runtime[self.name].path("source"))
        shutil.copytree(source, context.sandbox.home / _TREE)
        write_home(context, f"{_TREE}/mykey.py", _keys(context))
        for directory in (_RECORD, "scratch"):
            (context.sandbox.home / directory).mkdir()
        settings = {
            "tree": f"{context.home}/{_TREE}",
            "record": f"{context.home}/{_RECORD}",
            "scratch": f"{context.home}/scratch",
            "project": context.workspace,
            "banned": _BANNED,
            "timeout": SHELL_TIMEOUT_S,
            "max_turns": context.max_turns,
        }
        return drive(context, runtime.python(self.name), "generic", prompt, settings, {"GA_LANG": "en"})

    def examine(self, leftovers: Leftovers) -> Evidence:
        result = leftovers.json(f"{_RECORD}/result.json")
        if not result:
            return Evidence(detail=short(leftovers.errors().strip()[-500:]))
        messages = leftovers.read(f"{_RECORD}/messages.jsonl") or b""
        reported = result.get("usage")
        answers = reported if isinstance(reported, list) else []
        outcome, detail = _outcome(result)
        return Evidence(
            outcome=outcome,
            answer="" if _ERROR in detail else short(result.get("answer")),
            tool_calls=sum(_calls(message) for message in json_lines(messages)),
            turns=len(answers),
            usage=_total(answers, leftovers.text()),
            detail=detail,
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        change = {"path": edit.path, "old_content": edit.old, "new_content": edit.new}
        return (Line(tool="file_patch", arguments=change), Line(text="The line is changed."))

    def forbidden(self, kind: str) -> Forbidden:
        return Forbidden(Line(tool="web_scan", arguments={"tabs_only": True}), r"web_scan \(not available\)")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="code_run", arguments={"script": "ls", "type": "bash"})


def _keys(context: RunContext) -> str:
    """Its file of models: the only one in it is the run's."""
    model = context.model
    anthropic = model.api_type is ApiType.ANTHROPIC_MESSAGES
    responses = model.api_type is ApiType.OPENAI_RESPONSES
    given: dict[str, Any] = {
        "name": model.upstream_name,
        "model": model.upstream_name,
        "apikey": context.token,
        "apibase": gateway_url(context) + ("" if anthropic else "/v1"),
        "api_mode": "responses" if responses else "chat_completions",
        "max_retries": 4,
        "timeout": 30,
        "read_timeout": 600,
        **_generation(model),
    }
    return f"native_{'claude' if anthropic else 'oai'}_config = {given!r}\n"


def _generation(model: Model) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if model.temperature is not None:
        given["temperature"] = model.temperature
    if model.max_tokens is not None:
        given["max_tokens"] = model.max_tokens
    if not thinks(model):
        return given
    if model.api_type is not ApiType.ANTHROPIC_MESSAGES:
        return given | {"reasoning_effort": str(model.thinking_level)}
    # Anthropic takes no temperature beside thinking.
    budget, tokens = anthropic_budget(model)
    return {"thinking_type": "enabled", "thinking_budget_tokens": budget, "max_tokens": tokens}


def _outcome(result: dict[str, Any]) -> tuple[Outcome | None, str]:
    answer = str(result.get("answer") or "")
    if _ERROR in answer[-4000:]:
        said = answer[answer.rindex(_ERROR) :][:300].strip()
        return Outcome.STOP if "empty response" in said else Outcome.MODEL_ERROR, said
    end = result.get("end")
    reason = str(end.get("result")) if isinstance(end, dict) else ""
    if reason == "MAX_TURNS_EXCEEDED":
        return Outcome.TURN_LIMIT, reason
    return (Outcome.STOP if reason in ("CURRENT_TASK_DONE", "EXITED") else Outcome.ERROR), reason


def _calls(message: dict[str, Any]) -> int:
    """In either API's way of writing it."""
    content, calls = message.get("content"), message.get("tool_calls")
    parts = content if isinstance(content, list) else []
    used = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_use"]
    return len(used) + (len(calls) if isinstance(calls, list) else 0)


def _total(answers: list[object], output: str) -> Usage:
    """Of Anthropic's streams it counts the beginning alone; it prints the output at their ends."""
    total = sum((_usage(answer) for answer in answers), Usage())
    ends = [int(tokens) for tokens in _STREAM_END.findall(output)]
    return total.model_copy(update={"output": sum(ends)}) if ends else total


def _usage(value: object) -> Usage:
    reported: dict[str, Any] = value if isinstance(value, dict) else {}
    output = count(reported.get("completion_tokens")) or count(reported.get("output_tokens"))
    if "cache_read_input_tokens" in reported or "cache_creation_input_tokens" in reported:
        return Usage(
            input=count(reported.get("input_tokens")),
            cache_read=count(reported.get("cache_read_input_tokens")),
            cache_write=count(reported.get("cache_creation_input_tokens")),
            output=output,
        )
    details = reported.get("prompt_tokens_details") or reported.get("input_tokens_details")
    read = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    prompt = count(reported.get("prompt_tokens")) or count(reported.get("input_tokens"))
    return Usage(input=max(0, prompt - read), cache_read=read, output=output)
