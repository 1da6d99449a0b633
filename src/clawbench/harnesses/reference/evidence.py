"""What the agent's program left in HOME. The agent could have written anything there: read with care."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawbench.harnesses.protocol import AgentResult
from clawbench.results import Claim, FinishReason, Usage
from clawbench.sandbox import Ended

RESULT = "result.json"
TRANSCRIPT = "transcript.jsonl"
LARGEST = 256 * 1024 * 1024

FINISH = {
    "stop": FinishReason.STOP,
    "time_limit": FinishReason.TIMEOUT,
    "turn_limit": FinishReason.TIMEOUT,
    "model_error": FinishReason.ERROR,
    "error": FinishReason.ERROR,
}


@dataclass(frozen=True)
class Evidence:
    """result.json as far as it can be read; empty where there is none."""

    finish_reason: str | None = None
    turns: int = 0
    tool_calls: int = 0
    answer: str = ""
    detail: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    present: bool = False

    def claim(self) -> Claim | None:
        if not self.present:
            return None
        usage = Usage(
            input=max(0, self.prompt_tokens - self.cached_tokens),
            cache_read=self.cached_tokens,
            output=self.completion_tokens,
            reasoning=self.reasoning_tokens,
        )
        return Claim(usage=usage, turns=self.turns)


def finish_of(evidence: Evidence, ended: Ended) -> AgentResult:
    """How the agent ended: its own word only where the exit code agrees with it."""
    if ended.limit == "time":
        return AgentResult(FinishReason.TIMEOUT, ended.exit_code, "the sandbox's time limit")
    if ended.limit is not None:
        return AgentResult(FinishReason.ERROR, ended.exit_code, f"ended by the {ended.limit} limit")
    if evidence.finish_reason is None or ended.exit_code < 0:
        return AgentResult(FinishReason.ERROR, ended.exit_code, f"the program ended with {ended.exit_code}")
    reason = FINISH.get(evidence.finish_reason, FinishReason.ERROR)
    detail = evidence.detail or evidence.finish_reason
    if reason is FinishReason.STOP and ended.exit_code != 0:
        return AgentResult(FinishReason.ERROR, ended.exit_code, f"the program ended with {ended.exit_code}")
    if reason is FinishReason.STOP and not evidence.tool_calls and not evidence.answer:
        return AgentResult(
            FinishReason.EMPTY, ended.exit_code, "the model neither answered nor called a tool"
        )
    return AgentResult(reason, ended.exit_code, detail)


def read_evidence(home: Path) -> Evidence:
    try:
        value = json.loads(read_regular(home / RESULT) or b"null")
    except (ValueError, RecursionError):
        return Evidence()
    if not isinstance(value, dict):
        return Evidence()
    usage = value["usage"] if isinstance(value.get("usage"), dict) else {}
    return Evidence(
        finish_reason=value["finish_reason"] if isinstance(value.get("finish_reason"), str) else None,
        turns=_count(value.get("turns")),
        tool_calls=_count(value.get("tool_calls")),
        answer=_text(value.get("answer")),
        detail=_text(value.get("detail")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(usage.get("cached_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(usage.get("reasoning_tokens")),
        present=True,
    )


def save_evidence(home: Path, harness_dir: Path) -> None:
    """Copy what the program left into the run's record."""
    for name in (TRANSCRIPT, RESULT):
        data = read_regular(home / name)
        if data is not None:
            (harness_dir / name).write_bytes(data)


def read_regular(path: Path) -> bytes | None:
    """The file's content, unless it is a link, a pipe or too large: it may be a trap of the agent's."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                return file.read(LARGEST)
    return None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _text(value: Any) -> str:
    return value[:2000] if isinstance(value, str) else ""
