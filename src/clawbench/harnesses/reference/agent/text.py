"""Cutting long texts, so that one result never fills the model's context."""

from __future__ import annotations

RESULT_CHARS = 20_000
"""The longest result of any tool."""
PAGE_CHARS = 14_000
"""The longest part of a page that one reading returns."""


def cut_middle(text: str, limit: int = RESULT_CHARS) -> str:
    """Keep the beginning and the end: output says what it is first and what went wrong last."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 5, limit * 3 // 5
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"


def parts_of(lines: list[str], limit: int = PAGE_CHARS) -> list[str]:
    """Lines joined into parts of at most `limit` characters; a longer line is cut."""
    parts: list[str] = []
    current: list[str] = []
    size = 0
    for line in (cut_middle(line, limit // 2) for line in lines):
        if current and size + len(line) + 1 > limit:
            parts.append("\n".join(current))
            current, size = [], 0
        current.append(line)
        size += len(line) + 1
    return [*parts, "\n".join(current)]
