"""What a thinking level is in tokens, for APIs and harnesses that count them. Pure."""

from __future__ import annotations

from clawbench.models import ThinkingLevel

THINKING_TOKENS = {
    ThinkingLevel.OFF: 0,
    ThinkingLevel.MINIMAL: 1024,
    ThinkingLevel.LOW: 4096,
    ThinkingLevel.MEDIUM: 10_000,
    ThinkingLevel.HIGH: 24_000,
    ThinkingLevel.XHIGH: 31_999,
}
