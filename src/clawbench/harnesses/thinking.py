"""What a thinking level is in tokens, for APIs and harnesses that count them. Pure."""

from __future__ import annotations

from clawbench.models import Model, ThinkingLevel

THINKING_TOKENS = {
    ThinkingLevel.OFF: 0,
    ThinkingLevel.MINIMAL: 1024,
    ThinkingLevel.LOW: 4096,
    ThinkingLevel.MEDIUM: 10_000,
    ThinkingLevel.HIGH: 24_000,
    ThinkingLevel.XHIGH: 31_999,
}

_LEAST = 1024
"""Anthropic takes no smaller budget, and an answer needs room beside it."""
_ANSWER = 8192


def thinks(model: Model) -> bool:
    return model.thinking_level not in (None, ThinkingLevel.OFF)


def anthropic_budget(model: Model) -> tuple[int, int]:
    """Tokens for thinking, and for the whole answer: the second must be more."""
    tokens = THINKING_TOKENS[model.thinking_level or ThinkingLevel.OFF]
    if model.max_tokens is None:
        return tokens, tokens + _ANSWER
    return min(tokens, max(_LEAST, model.max_tokens - _LEAST)), model.max_tokens
