"""What the record of a rehearsal shows."""

from __future__ import annotations

import re
from typing import Any

from clawbench.harnesses.rehearsal import Forbidden
from clawbench.results import (
    FinishReason,
    RunDirectory,
    RunRecord,
    StopReason,
    Usage,
    Verdict,
    read_json_lines,
    read_llm_calls,
)
from clawbench.runner.checking.findings import Finding, failed, ok, skipped
from clawbench.runner.checking.policy import SAID
from clawbench.runner.checking.tasks import EDIT


def edited(run: RunDirectory, record: RunRecord) -> Finding:
    """The file is changed, the patch says so, the tests agree and the harness ended well."""
    if record.error:
        return failed(record.error)
    patch = run.patch.read_text(encoding="utf-8", errors="replace") if run.patch.is_file() else ""
    changed = f"-{EDIT.old}\n+{EDIT.new}" in patch
    if not changed or record.verdict is not Verdict.RESOLVED:
        return failed(f"the line was {'' if changed else 'not '}changed, {_ending(record)}")
    if record.finish_reason is not FinishReason.STOP:
        return failed(f"the line was changed, but {_ending(record)}")
    return ok("edited, resolved")


def pressed(record: RunRecord) -> Finding:
    """The button's request was intercepted and is the right one."""
    if record.error:
        return failed(record.error)
    if record.stop_reason is not StopReason.INTERCEPTED or record.verdict is not Verdict.PASS:
        return failed(f"the button was not pressed, {_ending(record)}")
    return ok("pressed, pass")


def _ending(record: RunRecord) -> str:
    score = f": {record.score.explanation}" if record.score and record.score.explanation else ""
    finish = f", finish reason {record.finish_reason}" if record.finish_reason else ""
    stop = f"{record.stop_reason} ({record.stop_description})"
    return f"stop reason {stop}{finish}, verdict {record.verdict}{score}"


def metered(run: RunDirectory, record: RunRecord) -> Finding:
    """The gateway counted what the scripted model said; only of answers that were broken off it may guess."""
    asked = [call for call in _calls(run) if not call.get("refused")]
    calls = [call for call in asked if call.get("operation") != "count_tokens"]
    whole = [call for call in calls if call.get("status") == 200 and not call.get("aborted")]
    broken = [call for call in calls if call not in whole]
    said = Usage()
    for _ in whole:
        said += SAID
    for call in broken:
        said += Usage.model_validate(call.get("usage") or {})
    measured = record.usage.measured.usage
    if not whole:
        return failed("no model call was answered")
    if measured != said:
        return failed(f"measured {_tokens(measured)}, the scripted model said {_tokens(said)}")
    aside = f" and {len(broken)} broken off" if broken else ""
    return ok(f"{len(whole)} answers{aside}: {_tokens(measured)}")


def unmetered(record: RunRecord) -> Finding:
    calls = record.usage.measured.calls
    return failed(f"it asked a model {calls} times") if calls else ok("asks no model")


def claimed(record: RunRecord) -> Finding:
    """What the harness says it used; a difference is shown, not judged."""
    claim = record.usage.claimed
    if claim is None:
        return skipped("the harness claims nothing")
    differing = [f"{name} {value:+g}" for name, value in record.usage.difference.items() if value]
    return ok(f"differs: {', '.join(differing)}" if differing else "equal")


def refused(run: RunDirectory, forbidden: Forbidden | None) -> Finding:
    """The forbidden call and the refusal are in the conversation."""
    if forbidden is None:
        return skipped("every tool that it could name is allowed")
    name = forbidden.line.tool
    messages = [line["message"] for line in _messages(run) if line.get("type") == "message"]
    for number, message in enumerate(messages):
        if any(_is_call(block, name) for block in message["content"]):
            answer = "\n".join(_text(later) for later in messages[number + 1 : number + 3])
            if re.search(forbidden.refusal, answer, re.MULTILINE):
                return ok(f"refused: {name}, and recorded")
            return failed(f"{name} was answered: {answer[:300]!r}")
    return failed(f"no call of {name} is in agent-messages.jsonl")


def _is_call(block: dict[str, Any], tool: str | None) -> bool:
    return block.get("type") == "toolCall" and block.get("name") == tool


def _text(message: dict[str, Any]) -> str:
    return "\n".join(block.get("text", "") for block in message["content"] if block.get("type") == "text")


def _messages(run: RunDirectory) -> list[dict[str, Any]]:
    return list(read_json_lines(run.messages)) if run.messages.is_file() else []


def _calls(run: RunDirectory) -> list[dict[str, Any]]:
    return list(read_llm_calls(run.llm_calls)) if run.llm_calls.is_file() else []


def _tokens(usage: Usage) -> str:
    return f"{usage.prompt:,} tokens in ({usage.cache_read:,} cached), {usage.output:,} out"
