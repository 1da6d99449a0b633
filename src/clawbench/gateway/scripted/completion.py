"""OpenAI-shaped answers of a scripted model, whole or as a stream. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clawbench.gateway.scripted.engine import Move

PIECE = 24
"""Characters per delta."""
FINGERPRINT = "scripted"


def whole(head: dict[str, Any], move: Move, ids: list[str], usage: dict[str, Any]) -> bytes:
    """A chat.completion object."""
    message: dict[str, Any] = {"role": "assistant", "content": move.text}
    if move.thinking:
        message["reasoning_content"] = move.thinking
    if move.calls:
        message["tool_calls"] = [
            _tool_call(call_id, name, json.dumps(arguments))
            for call_id, (name, arguments) in zip(ids, move.calls, strict=True)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(move)}
    return json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


def stream(head: dict[str, Any], move: Move, ids: list[str], usage: dict[str, Any] | None) -> Iterator[bytes]:
    """Server-sent chat.completion.chunk events; the usage comes last, where it was asked for."""
    chunk_head = {**head, "object": "chat.completion.chunk"}
    for delta in _deltas(move, ids):
        yield _event({**chunk_head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    last = {"index": 0, "delta": {}, "finish_reason": _finish_reason(move)}
    yield _event({**chunk_head, "choices": [last]})
    if usage is not None:
        yield _event({**chunk_head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _deltas(move: Move, ids: list[str]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if move.text else None}
    for piece in _pieces(move.thinking):
        yield {"reasoning_content": piece}
    for piece in _pieces(move.text):
        yield {"content": piece}
    for index, (call_id, (name, arguments)) in enumerate(zip(ids, move.calls, strict=True)):
        yield {"tool_calls": [{"index": index, **_tool_call(call_id, name, "")}]}
        for piece in _pieces(json.dumps(arguments)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str | None) -> Iterator[str]:
    for start in range(0, len(text or ""), PIECE):
        yield (text or "")[start : start + PIECE]


def _tool_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _finish_reason(move: Move) -> str:
    return "tool_calls" if move.calls else "stop"


def _event(payload: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"
