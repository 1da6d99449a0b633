"""Tokens of a scripted model, counted as real providers count. Pure and deterministic."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from clawbench.gateway.scripted.engine import Move
from clawbench.gateway.usage import CHARACTERS_PER_TOKEN, estimate_tokens

SMALLEST_CACHED = 1024
CACHE_STEP = 128
REMEMBERED = 8


class PromptCache:
    """The prompts a run sent lately; what a new one shares with one of them counts as cached."""

    def __init__(self) -> None:
        self._prompts: deque[str] = deque(maxlen=REMEMBERED)

    def take(self, prompt: str) -> int:
        """Cached tokens of this prompt; it is remembered for the next."""
        shared = max((shared_prefix(prompt, earlier) for earlier in self._prompts), default=0)
        self._prompts.append(prompt)
        tokens = shared // CHARACTERS_PER_TOKEN
        return tokens - tokens % CACHE_STEP if tokens >= SMALLEST_CACHED else 0


def prompt_text(request: Mapping[str, Any]) -> str:
    """What the model would read: tools first, as providers lay it out, then the messages."""
    parts = [request.get("tools") or [], *(request.get("messages") or [])]
    return "\n".join(json.dumps(part, ensure_ascii=False, sort_keys=True) for part in parts)


def usage_of(prompt: str, cached: int, move: Move) -> dict[str, Any]:
    """An OpenAI usage object."""
    read = estimate_tokens(len(prompt))
    thought = estimate_tokens(len(move.thinking or ""))
    called = sum(len(name) + len(json.dumps(arguments)) for name, arguments in move.calls)
    written = thought + max(1, estimate_tokens(len(move.text or "") + called))
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def shared_prefix(one: str, other: str) -> int:
    """Length of the common start, by halving: prompts may be megabytes long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
