"""One conversation, told to each of the four APIs, leaves the same lines."""

from __future__ import annotations

from typing import Any

import pytest

from clawbench.gateway.conversation import Conversation
from clawbench.gateway.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect
from clawbench.gateway.exchange import Answer

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
ARGUMENTS = {"path": "a.py"}
PICTURE = "AAAA" * 10

CHAT_TALK = {
    "tools": [
        {"type": "function", "function": {"name": "read", "description": "Reads", "parameters": SCHEMA}}
    ],
    "messages": [
        {"role": "system", "content": "Be exact."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Fix it."},
                {"type": "image_url", "image_url": {"url": PICTURE}},
            ],
        },
        {
            "role": "assistant",
            "content": "Reading.",
            "reasoning_content": "Hm.",
            "tool_calls": [{"id": "c1", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "print(1)"},
    ],
}
RESPONSES_TALK = {
    "instructions": "Be exact.",
    "tools": [{"type": "function", "name": "read", "description": "Reads", "parameters": SCHEMA}],
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Fix it."},
                {"type": "input_image", "image_url": PICTURE},
            ],
        },
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Reading."}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path": "a.py"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "print(1)"},
    ],
}
ANTHROPIC_TALK = {
    "system": [{"type": "text", "text": "Be exact.", "cache_control": {"type": "ephemeral"}}],
    "tools": [
        {
            "name": "read",
            "description": "Reads",
            "input_schema": SCHEMA,
            "cache_control": {"type": "ephemeral"},
        }
    ],
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Fix it."}, {"type": "image", "source": PICTURE}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "text", "text": "Reading."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": ARGUMENTS},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "print(1)"}],
                }
            ],
        },
    ],
}
GOOGLE_TALK = {
    "systemInstruction": {"parts": [{"text": "Be exact."}]},
    "tools": [
        {"functionDeclarations": [{"name": "read", "description": "Reads", "parametersJsonSchema": SCHEMA}]}
    ],
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "Fix it."}, {"inlineData": {"mimeType": "image/png", "data": PICTURE}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "Reading."},
                {"functionCall": {"id": "c1", "name": "read", "args": ARGUMENTS}},
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "read", "response": {"result": "print(1)"}}}],
        },
    ],
}
PLACES = {CHAT: "messages", RESPONSES: "input", ANTHROPIC: "messages", GOOGLE: "contents"}
FIRST = {CHAT: 2, RESPONSES: 1, ANTHROPIC: 1, GOOGLE: 1}
ANSWERED = [
    {"type": "thinking", "thinking": "Hm."},
    {"type": "text", "text": "Reading."},
    {"type": "toolCall", "id": "c1", "name": "read", "arguments": ARGUMENTS},
]


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """Without the time, and without what only some APIs tell."""
    message = {name: value for name, value in line.get("message", {}).items() if name != "toolName"}
    content = [
        {"type": "attachment"} if block["type"] == "attachment" else block
        for block in message.get("content", [])
    ]
    kept = {name: value for name, value in line.items() if name not in ("timestamp", "message")}
    return {**kept, "message": {**message, "content": content}} if message else kept


@pytest.mark.parametrize(
    ("dialect", "talk"),
    [
        pytest.param(CHAT, CHAT_TALK, id="chat"),
        pytest.param(RESPONSES, RESPONSES_TALK, id="responses"),
        pytest.param(ANTHROPIC, ANTHROPIC_TALK, id="anthropic"),
        pytest.param(GOOGLE, GOOGLE_TALK, id="google"),
    ],
)
def test_same_lines(dialect: Dialect, talk: dict[str, Any]) -> None:
    lines: list[dict[str, Any]] = []
    conversation = Conversation(lines.append, {"id": "r"})
    place = PLACES[dialect]
    opening = {**talk, place: talk[place][: FIRST[dialect]]}
    conversation.answer(conversation.ask(dialect.read_prompt(opening)), Answer(content=ANSWERED))
    done = Answer(content=[{"type": "text", "text": "Done."}])
    conversation.answer(conversation.ask(dialect.read_prompt(talk)), done)
    assert [_plain(line) for line in lines[1:]] == [
        {"type": "system", "text": "Be exact."},
        {"type": "tools", "tools": [{"name": "read", "description": "Reads", "parameters": SCHEMA}]},
        {
            "type": "message",
            "message": {
                "role": "user",
                "content": [{"type": "text", "text": "Fix it."}, {"type": "attachment"}],
            },
        },
        {"type": "message", "message": {"role": "assistant", "content": ANSWERED}},
        {
            "type": "message",
            "message": {
                "role": "toolResult",
                "content": [{"type": "text", "text": "print(1)"}],
                "toolCallId": "c1",
            },
        },
        {"type": "message", "message": {"role": "assistant", "content": done.content}},
    ]
    assert dialect.read_prompt(talk).messages[1] == {"role": "assistant", "content": ANSWERED}
