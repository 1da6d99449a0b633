"""What the agent leaves behind in HOME: its transcript and its result."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TRANSCRIPT = "transcript.jsonl"
RESULT = "result.json"


@dataclass
class Used:
    """Tokens as summed from the model's answers; cached ones are a part of the prompt."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def add(self, usage: dict[str, Any]) -> None:
        self.prompt_tokens += _count(usage.get("prompt_tokens"))
        self.completion_tokens += _count(usage.get("completion_tokens"))
        self.cached_tokens += _count((usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
        details = usage.get("completion_tokens_details") or {}
        self.reasoning_tokens += _count(details.get("reasoning_tokens"))


@dataclass
class Result:
    finish_reason: str | None = None
    """stop, error, turn_limit, time_limit, model_error; None while it still runs."""
    turns: int = 0
    tool_calls: int = 0
    answer: str = ""
    detail: str = ""
    usage: Used = field(default_factory=Used)

    def save(self, home: Path) -> None:
        temporary = home / f".{RESULT}"
        text = json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        os.replace(temporary, home / RESULT)


class Transcript:
    """Every message of the conversation, one line each, flushed."""

    def __init__(self, home: Path) -> None:
        self._file = (home / TRANSCRIPT).open("a", encoding="utf-8", errors="backslashreplace")

    def add(self, message: dict[str, Any], **more: Any) -> None:
        line = {"timestamp": round(time.time(), 3), "message": message, **more}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
