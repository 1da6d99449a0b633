"""Anthropic messages, the answer: read from the bytes that passed, whole or streamed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway import usage
from clawbench.gateway.dialects.anthropic_request import content_blocks
from clawbench.gateway.dialects.json_values import error_text, mapping, parse, parse_or_text
from clawbench.gateway.exchange import Answer
from clawbench.gateway.sse import data_of

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def read_whole(raw: bytes) -> Answer:
    """An answer that came as one JSON object."""
    body = parse(raw)
    if not isinstance(body, Mapping):
        return Answer(error="the answer is not a JSON object")
    reported = body.get("usage")
    return Answer(
        content=content_blocks(body["content"]) if isinstance(body.get("content"), list) else [],
        finish_reason=body.get("stop_reason"),
        usage=usage.from_anthropic(reported),
        billed_usd=usage.billed_cost(reported),
        model=body.get("model"),
        error=error_text(body.get("error")),
        complete=True,
        service_tier=_tier(mapping(reported)),
        uses=_uses(mapping(reported)),
    )


def read_stream(raw: bytes) -> Answer:
    """An answer that came as server-sent events, complete or broken off."""
    assembly = _Assembly()
    for data in data_of(raw):
        event = parse(data)
        if isinstance(event, Mapping):
            assembly.take(event)
    return assembly.answer()


class _Assembly:
    """Puts the blocks of a streamed message together again."""

    def __init__(self) -> None:
        self._message: Mapping[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._usage: dict[str, Any] = {}
        self._usage_final = False
        self._stop_reason: str | None = None
        self._error: str | None = None
        self._complete = False

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._message = mapping(event.get("message"))
            self._count(self._message.get("usage"))
        elif kind == "content_block_start":
            self._blocks[self._slot(event)] = dict(mapping(event.get("content_block")))
        elif kind == "content_block_delta":
            self._add(self._blocks.setdefault(self._slot(event), {}), mapping(event.get("delta")))
        elif kind == "message_delta":
            self._stop_reason = mapping(event.get("delta")).get("stop_reason") or self._stop_reason
            self._count(event.get("usage"))
            self._usage_final = True
        elif kind == "message_stop":
            self._complete = True
        elif kind == "error":
            self._error = error_text(event.get("error"))

    def answer(self) -> Answer:
        blocks = [_whole_block(self._blocks[slot]) for slot in sorted(self._blocks)]
        return Answer(
            content=[block for block in content_blocks(blocks) if block.get("text") != ""],
            finish_reason=self._stop_reason,
            usage=usage.from_anthropic(self._usage),
            billed_usd=usage.billed_cost(self._usage),
            model=self._message.get("model"),
            error=self._error,
            complete=self._complete,
            usage_final=self._usage_final,
            service_tier=_tier(self._usage),
            uses=_uses(self._usage),
        )

    def _count(self, reported: Any) -> None:
        # Totals so far, not additions: a later report replaces what it names.
        self._usage |= {name: value for name, value in mapping(reported).items() if value is not None}

    def _slot(self, event: Mapping[str, Any]) -> int:
        index = event.get("index")
        return index if isinstance(index, int) else len(self._blocks)

    @staticmethod
    def _add(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
        field = _DELTAS.get(str(delta.get("type")))
        piece = delta.get(field) if field else None
        if field and isinstance(piece, str):
            block[field] = str(block.get(field) or "") + piece
            block.setdefault("type", "thinking" if field == "thinking" else "text")


def _whole_block(block: Mapping[str, Any]) -> dict[str, Any]:
    written = block.get("partial_json")
    return {**block, "input": parse_or_text(written)} if written else dict(block)


def _tier(reported: Mapping[str, Any]) -> str | None:
    """What the price depends on: tier, fast mode, and where the model ran if that was restricted."""
    place = reported.get("inference_geo")
    if place not in (None, "", "global", "not_available"):
        return f"inference_geo {place}"
    return "fast" if reported.get("speed") == "fast" else reported.get("service_tier")


def _uses(reported: Mapping[str, Any]) -> dict[str, int]:
    """Tools that the provider runs; fetching a page has no fee."""
    counts = mapping(reported.get("server_tool_use"))
    uses = {name.removesuffix("_requests"): n for name, n in counts.items() if isinstance(n, int) and n > 0}
    return {name: count for name, count in uses.items() if name != "web_fetch"}
