"""Answers as Anthropic messages, whole or as a stream. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clawbench.gateway.scripted.script import Script, named_event, piece_size, pieces
from clawbench.results import Usage

SIGNATURE = "c2NyaXB0ZWQ="


class AnthropicShape:
    def whole(self, script: Script) -> dict[str, Any]:
        """A message object."""
        stop = {"stop_reason": _stop_reason(script), "stop_sequence": None}
        return {**_head(script), "content": _blocks(script), **stop, "usage": usage_object(script.usage)}

    def events(self, script: Script) -> Iterator[bytes]:
        """message_start, each block, message_delta, message_stop."""
        begun = {**usage_object(script.usage), "output_tokens": 1}
        begun.pop("output_tokens_details")
        head = {**_head(script), "content": [], "stop_reason": None, "stop_sequence": None, "usage": begun}
        yield named_event("message_start", message=head)
        yield named_event("ping")
        for index, block in enumerate(_blocks(script)):
            yield from _block_events(script, index, block)
        ended = {"stop_reason": _stop_reason(script), "stop_sequence": None}
        counted = usage_object(script.usage)
        kept = {name: counted[name] for name in ("input_tokens", "output_tokens", "output_tokens_details")}
        yield named_event("message_delta", delta=ended, usage=kept)
        yield named_event("message_stop")

    def counted(self, tokens: int) -> dict[str, Any]:
        return {"input_tokens": tokens}


def usage_object(usage: Usage) -> dict[str, Any]:
    minutes = usage.cache_write - usage.cache_write_1h
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": minutes,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
        "service_tier": "standard",
    }


def _head(script: Script) -> dict[str, Any]:
    return {
        "id": f"msg_scripted_{script.mark}",
        "type": "message",
        "role": "assistant",
        "model": script.model,
    }


def _blocks(script: Script) -> list[dict[str, Any]]:
    move = script.move
    blocks: list[dict[str, Any]] = []
    if move.thinking:
        blocks.append({"type": "thinking", "thinking": move.thinking, "signature": SIGNATURE})
    if move.text:
        blocks.append({"type": "text", "text": move.text})
    for call_id, name, arguments in script.calls("toolu_"):
        given: Any = script.written(arguments) if script.malformed else arguments
        blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": given})
    return blocks


def _block_events(script: Script, index: int, block: dict[str, Any]) -> Iterator[bytes]:
    kind = block["type"]
    if kind == "tool_use":
        given = block["input"]
        empty = {**block, "input": {}}
        deltas = [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in pieces(given if isinstance(given, str) else script.written(given))
        ]
    else:
        text = block[kind]
        empty = {**block, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        deltas = [{"type": f"{kind}_delta", kind: piece} for piece in pieces(text, piece_size(text))]
    if kind == "thinking":
        deltas.append({"type": "signature_delta", "signature": SIGNATURE})
    yield named_event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield named_event("content_block_delta", index=index, delta=delta)
    yield named_event("content_block_stop", index=index)


def _stop_reason(script: Script) -> str:
    return "tool_use" if script.move.calls else "end_turn"
