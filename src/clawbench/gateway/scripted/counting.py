"""Tokens of a scripted model, counted as real providers count. Pure and deterministic."""

from __future__ import annotations

import json
from collections import deque

from clawbench.gateway.exchange import Prompt
from clawbench.gateway.scripted.engine import Move
from clawbench.gateway.usage import CHARACTERS_PER_TOKEN, estimate_tokens
from clawbench.results import Usage

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


def prompt_text(prompt: Prompt) -> str:
    """What the model would read: tools first, as providers lay it out, then the messages."""
    parts = [prompt.tools, prompt.system, *prompt.messages]
    return "\n".join(json.dumps(part, ensure_ascii=False, sort_keys=True) for part in parts)


def count(prompt: str, cached: int, move: Move) -> Usage:
    """Tokens of one answer."""
    read = estimate_tokens(len(prompt))
    thought = estimate_tokens(len(move.thinking or ""))
    called = sum(len(name) + len(json.dumps(arguments)) for name, arguments in move.calls)
    written = thought + max(1, estimate_tokens(len(move.text or "") + called))
    return Usage(input=read - cached, cache_read=cached, output=written, reasoning=thought)


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
