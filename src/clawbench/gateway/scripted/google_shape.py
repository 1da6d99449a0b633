"""Answers as Google's generateContent writes them, whole or as a stream. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from clawbench.gateway.scripted.script import Script, piece_size, pieces
from clawbench.results import Usage


class GoogleShape:
    def whole(self, script: Script) -> dict[str, Any]:
        """A GenerateContentResponse."""
        return _chunk(script, _parts(script), last=True)

    def events(self, script: Script) -> Iterator[bytes]:
        """One event per chunk, as with alt=sse."""
        for chunk in self.chunks(script):
            yield b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n"

    def array(self, script: Script) -> Iterator[bytes]:
        """The same chunks as one JSON array that grows."""
        yield from _joined(json.dumps(chunk, indent=2) for chunk in self.chunks(script))

    def chunks(self, script: Script) -> Iterator[dict[str, Any]]:
        for part in _parts(script):
            text = part.get("text")
            if text is None:
                yield _chunk(script, [part], last=False)
                continue
            for piece in pieces(text, piece_size(text)):
                yield _chunk(script, [{**part, "text": piece}], last=False)
        yield _chunk(script, [{"text": ""}], last=True)

    def counted(self, tokens: int) -> dict[str, Any]:
        return {"totalTokens": tokens}


def usage_metadata(usage: Usage) -> dict[str, Any]:
    counted = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.prompt}],
    }
    if usage.cache_read:
        counted["cachedContentTokenCount"] = usage.cache_read
    if usage.reasoning:
        counted["thoughtsTokenCount"] = usage.reasoning
    return counted


def _chunk(script: Script, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        broken = script.malformed and script.move.calls
        candidate["finishReason"] = "MALFORMED_FUNCTION_CALL" if broken else "STOP"
    total = script.usage.prompt
    begun = {"promptTokenCount": total, "totalTokenCount": total}
    return {
        "candidates": [candidate],
        "usageMetadata": usage_metadata(script.usage) if last else begun,
        "modelVersion": script.model,
        "responseId": f"scripted-{script.mark}",
    }


def _parts(script: Script) -> list[dict[str, Any]]:
    move = script.move
    parts: list[dict[str, Any]] = []
    if move.thinking:
        parts.append({"text": move.thinking, "thought": True})
    if move.text:
        parts.append({"text": move.text})
    if not script.malformed:
        for call_id, name, arguments in script.calls("fc_"):
            parts.append({"functionCall": {"id": call_id, "name": name, "args": arguments}})
    return parts


def _joined(texts: Iterable[str]) -> Iterator[bytes]:
    before = "["
    for text in texts:
        yield (before + text).encode()
        before = ",\r\n"
    yield b"]"
