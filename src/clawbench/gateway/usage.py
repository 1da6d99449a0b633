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
    heard = _detail(reported, "prompt_tokens_details", "audio_tokens") or 0
    spoken = _detail(reported, "completion_tokens_details", "audio_tokens") or 0
    return Usage(
        input=prompt - read - write,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
        input_audio=min(prompt - read - write, heard),
        output_audio=min(output, spoken),
    )


def from_responses(reported: Any) -> Usage | None:
    """The `usage` object of an OpenAI response."""
    if not isinstance(reported, Mapping):
        return None
    prompt, output = _count(reported, "input_tokens"), _count(reported, "output_tokens")
    if prompt is None and output is None:
        return None
    prompt, output = prompt or 0, output or 0
    read = min(prompt, _detail(reported, "input_tokens_details", "cached_tokens") or 0)
    write = min(prompt - read, _detail(reported, "input_tokens_details", "cache_write_tokens") or 0)
    reasoning = _detail(reported, "output_tokens_details", "reasoning_tokens") or 0
    return Usage(
        input=prompt - read - write,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=min(output, reasoning),
    )


def from_anthropic(reported: Any) -> Usage | None:
    """The `usage` object of an Anthropic message: its input counts nothing that a cache read or kept."""
    if not isinstance(reported, Mapping):
        return None
    fresh, output = _count(reported, "input_tokens"), _count(reported, "output_tokens")
    if fresh is None and output is None:
        return None
    parts = reported.get("iterations")
    # What compacting the context took is the one part that the totals leave out.
    compacted = [
        found
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, Mapping) and part.get("type") == "compaction" and (found := from_anthropic(part))
    ]
    hour = _detail(reported, "cache_creation", "ephemeral_1h_input_tokens") or 0
    minutes = _detail(reported, "cache_creation", "ephemeral_5m_input_tokens") or 0
    write = max(_count(reported, "cache_creation_input_tokens") or 0, hour + minutes)
    reasoning = _detail(reported, "output_tokens_details", "thinking_tokens") or 0
    counted = Usage(
        input=fresh or 0,
        cache_read=_count(reported, "cache_read_input_tokens") or 0,
        cache_write=write,
        cache_write_1h=hour,
        output=output or 0,
        reasoning=min(output or 0, reasoning),
    )
    return sum(compacted, counted)


def from_google(reported: Any) -> Usage | None:
    """The `usageMetadata` of a Google answer: thoughts and tool prompts are counted beside the rest."""
    if not isinstance(reported, Mapping):
        return None
    prompt, said = _count(reported, "promptTokenCount"), _count(reported, "candidatesTokenCount")
    if prompt is None and said is None:
        return None
    prompt = prompt or 0
    thoughts = _count(reported, "thoughtsTokenCount") or 0
    read = min(prompt, _count(reported, "cachedContentTokenCount") or 0)
    fresh = prompt - read + (_count(reported, "toolUsePromptTokenCount") or 0)
    output = (said or 0) + thoughts
    read_audio = min(read, _modality(reported, "cacheTokensDetails", "AUDIO"))
    heard = _modality(reported, "promptTokensDetails", "AUDIO") - read_audio
    return Usage(
        input=fresh,
        cache_read=read,
        output=output,
        reasoning=thoughts,
        input_audio=min(fresh, max(0, heard)),
        cache_read_audio=read_audio,
        output_audio=min(output, _modality(reported, "candidatesTokensDetails", "AUDIO")),
        output_image=min(output, _modality(reported, "candidatesTokensDetails", "IMAGE")),
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


def _modality(reported: Mapping[str, Any], group: str, modality: str) -> int:
    details = reported.get(group)
    given = details if isinstance(details, list) else []
    counts = (d for d in given if isinstance(d, Mapping) and d.get("modality") == modality)
    return sum(_count(detail, "tokenCount") or 0 for detail in counts)


def _count(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return int(value) if usable and value is not None else None
