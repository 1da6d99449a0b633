"""Tokens as each provider reports them, turned into disjoint buckets. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.results import Usage

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(characters: int) -> int:
    """A rough count for text whose tokens nobody reported."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def from_chat_completions(reported: Any) -> Usage | None:
    """The `usage` object of an OpenAI chat completion; None where it says nothing usable."""
    if not isinstance(reported, Mapping):
        return None
    prompt, completion = _count(reported, "prompt_tokens"), _count(reported, "completion_tokens")
    if prompt is None and completion is None:
        return None
    prompt, completion = prompt or 0, completion or 0
    read = min(prompt, _cache_read(reported))
    write = min(prompt - read, _detail(reported, "prompt_tokens_details", "cache_write_tokens") or 0)
    output, reasoning = _output(reported, prompt, completion)
    return Usage(
        input=prompt - read - write, cache_read=read, cache_write=write, output=output, reasoning=reasoning
    )


def billed_cost(reported: Any) -> float | None:
    """What the provider itself says it charged (OpenRouter's `usage.cost`)."""
    cost = reported.get("cost") if isinstance(reported, Mapping) else None
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _cache_read(reported: Mapping[str, Any]) -> int:
    cached = _detail(reported, "prompt_tokens_details", "cached_tokens")
    return cached if cached is not None else _count(reported, "prompt_cache_hit_tokens") or 0


def _output(reported: Mapping[str, Any], prompt: int, completion: int) -> tuple[int, int]:
    # Some providers leave reasoning out of completion_tokens; only their total gives it away.
    reasoning = _detail(reported, "completion_tokens_details", "reasoning_tokens")
    hidden = max(0, (_count(reported, "total_tokens") or 0) - prompt - completion)
    output = completion + hidden
    return output, min(output, hidden if reasoning is None else reasoning)


def _detail(reported: Mapping[str, Any], group: str, name: str) -> int | None:
    details = reported.get(group)
    return _count(details, name) if isinstance(details, Mapping) else None


def _count(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return int(value) if usable and value is not None else None
