"""How three APIs are asked and answer: a request, a whole answer and the same as a stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from clawbench.models import ApiType
from clawbench.results import Usage


@dataclass(frozen=True)
class Sample:
    """How one API is asked and answers."""

    api_type: ApiType
    path: str
    upstream_path: str
    request: dict[str, Any]
    whole: dict[str, Any]
    events: list[bytes]
    usage: Usage
    key_header: str
    key_prefix: str = ""
    stream: dict[str, Any] = field(default_factory=lambda: {"stream": True})
    stream_path: str | None = None


def named(kind: str, **more: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def data(payload: Any) -> bytes:
    return f"data: {json.dumps(payload)}\r\n\r\n".encode()


ANSWERED = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "up",
    "output": [
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm"}]},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Grüße", "annotations": []}],
        },
        {"type": "function_call", "id": "f", "call_id": "c1", "name": "look", "arguments": '{"a": 1}'},
    ],
    "usage": {
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens_details": {"reasoning_tokens": 8},
    },
}
RESPONSES = Sample(
    ApiType.OPENAI_RESPONSES,
    "/v1/responses",
    "/v1/responses",
    {"model": "any", "input": "Hi"},
    ANSWERED,
    [
        named(
            "response.created",
            response={"id": "resp_1", "status": "in_progress", "model": "up", "output": []},
        ),
        named(
            "response.output_item.added",
            output_index=0,
            item={"type": "reasoning", "id": "rs", "summary": []},
        ),
        named("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="Hm"),
        named(
            "response.output_item.added",
            output_index=1,
            item={"type": "message", "role": "assistant", "content": []},
        ),
        named("response.output_text.delta", output_index=1, content_index=0, delta="Grü"),
        named("response.output_text.delta", output_index=1, content_index=0, delta="ße"),
        named(
            "response.output_item.added",
            output_index=2,
            item={"type": "function_call", "call_id": "c1", "name": "look", "arguments": ""},
        ),
        named("response.function_call_arguments.delta", output_index=2, delta='{"a": 1}'),
        named("response.completed", response=ANSWERED),
    ],
    Usage(input=40, cache_read=60, output=20, reasoning=8),
    "authorization",
    "Bearer ",
)

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "up",
    "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": "Hm", "signature": "s"},
        {"type": "text", "text": "Grüße"},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
    ],
    "usage": {
        "input_tokens": 40,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 7,
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 3},
        "output_tokens": 20,
    },
}
ANTHROPIC = Sample(
    ApiType.ANTHROPIC_MESSAGES,
    "/v1/messages?beta=true",
    "/v1/messages?beta=true",
    {"model": "any", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]},
    MESSAGE,
    [
        named(
            "message_start",
            message={
                **MESSAGE,
                "content": [],
                "stop_reason": None,
                "usage": {**MESSAGE["usage"], "output_tokens": 1},
            },
        ),
        named(
            "content_block_start",
            index=0,
            content_block={"type": "thinking", "thinking": "", "signature": ""},
        ),
        named("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "Hm"}),
        named("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "s"}),
        named("content_block_stop", index=0),
        named("ping"),
        named("content_block_start", index=1, content_block={"type": "text", "text": ""}),
        named("content_block_delta", index=1, delta={"type": "text_delta", "text": "Grü"}),
        named("content_block_delta", index=1, delta={"type": "text_delta", "text": "ße"}),
        named(
            "content_block_start",
            index=2,
            content_block={"type": "tool_use", "id": "c1", "name": "look", "input": {}},
        ),
        named("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": '{"a":'}),
        named("content_block_delta", index=2, delta={"type": "input_json_delta", "partial_json": " 1}"}),
        named("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 20}),
        named("message_stop"),
    ],
    Usage(input=40, cache_read=60, cache_write=7, cache_write_1h=3, output=20),
    "x-api-key",
)

PARTS = [
    {"text": "Hm", "thought": True},
    {"text": "Grüße"},
    {"functionCall": {"id": "c1", "name": "look", "args": {"a": 1}}},
]
COUNTED = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 60,
    "candidatesTokenCount": 12,
    "thoughtsTokenCount": 8,
    "totalTokenCount": 120,
}
GENERATED = {
    "candidates": [{"index": 0, "content": {"role": "model", "parts": PARTS}, "finishReason": "STOP"}],
    "usageMetadata": COUNTED,
    "modelVersion": "up",
}
CHUNKS = [
    {
        "candidates": [{"index": 0, "content": {"parts": [PARTS[0]]}}],
        "usageMetadata": {"promptTokenCount": 100},
    },
    {"candidates": [{"index": 0, "content": {"parts": [{"text": "Grü"}]}}]},
    {
        "candidates": [
            {"index": 0, "content": {"parts": [{"text": "ße"}, PARTS[2]]}, "finishReason": "STOP"}
        ],
        "usageMetadata": COUNTED,
        "modelVersion": "up",
    },
]
GOOGLE = Sample(
    ApiType.GOOGLE,
    "/v1beta/models/any:generateContent",
    "/v1/models/upstream-name:generateContent",
    {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    GENERATED,
    [data(chunk) for chunk in CHUNKS],
    Usage(input=40, cache_read=60, output=20, reasoning=8),
    "x-goog-api-key",
    stream={},
    stream_path="/v1beta/models/any:streamGenerateContent?alt=sse",
)
SAMPLES = [pytest.param(sample, id=sample.api_type.value) for sample in (RESPONSES, ANTHROPIC, GOOGLE)]
SAID = [
    {"type": "thinking", "thinking": "Hm"},
    {"type": "text", "text": "Grüße"},
    {"type": "toolCall", "id": "c1", "name": "look", "arguments": {"a": 1}},
]
