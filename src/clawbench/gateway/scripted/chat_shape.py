"""Answers as OpenAI chat completions, whole or as a stream. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clawbench.gateway.scripted.script import Script, event, piece_size, pieces
from clawbench.results import Usage

FINGERPRINT = "scripted"


class ChatShape:
    def whole(self, script: Script) -> dict[str, Any]:
        """A chat.completion object."""
        move = script.move
        message: dict[str, Any] = {"role": "assistant", "content": move.text}
        if move.thinking:
            message["reasoning_content"] = move.thinking
        if move.calls:
            message["tool_calls"] = [
                _tool_call(call_id, name, script.written(arguments))
                for call_id, name, arguments in script.calls("call_")
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(script)}
        head = _head(script, "chat.completion")
        return {**head, "choices": [choice], "usage": usage_object(script.usage)}

    def events(self, script: Script) -> Iterator[bytes]:
        """chat.completion.chunk events; the usage comes last, where it was asked for."""
        head = _head(script, "chat.completion.chunk")
        for delta in _deltas(script):
            yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        last = {"index": 0, "delta": {}, "finish_reason": _finish_reason(script)}
        yield event({**head, "choices": [last]})
        if (script.request.get("stream_options") or {}).get("include_usage"):
            yield event({**head, "choices": [], "usage": usage_object(script.usage)})
        yield b"data: [DONE]\n\n"

    def counted(self, tokens: int) -> dict[str, Any]:
        return {"input_tokens": tokens}


def usage_object(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _head(script: Script, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-scripted-{script.mark}",
        "created": script.created,
        "model": script.model,
        "system_fingerprint": FINGERPRINT,
        "object": kind,
    }


def _deltas(script: Script) -> Iterator[dict[str, Any]]:
    move = script.move
    yield {"role": "assistant", "content": "" if move.text else None}
    for piece in pieces(move.thinking, piece_size(move.thinking)):
        yield {"reasoning_content": piece}
    for piece in pieces(move.text, piece_size(move.text)):
        yield {"content": piece}
    for index, (call_id, name, arguments) in enumerate(script.calls("call_")):
        yield {"tool_calls": [{"index": index, **_tool_call(call_id, name, "")}]}
        for piece in pieces(script.written(arguments)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _tool_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _finish_reason(script: Script) -> str:
    return "tool_calls" if script.move.calls else "stop"
