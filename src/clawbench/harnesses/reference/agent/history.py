"""The conversation, kept within a size that models can take."""

from __future__ import annotations

import json
from typing import Any

from .chat import Message

CONVERSATION_CHARS = 480_000
"""About 120,000 tokens. Beyond it the oldest tool results are emptied."""
KEPT_RESULTS = 4
EMPTIED = "[an older result, left out to save room]"
REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_details")


def size(messages: list[Message]) -> int:
    return sum(len(json.dumps(message, ensure_ascii=False)) for message in messages)


def shorten(messages: list[Message], limit: int = CONVERSATION_CHARS) -> bool:
    """Empty the oldest results until half the limit is free; in big steps, because each step
    costs the provider's prompt cache. True where anything was emptied."""
    total = size(messages)
    if total <= limit:
        return False
    results = [message for message in messages if message["role"] == "tool"]
    emptied = False
    for message in results[:-KEPT_RESULTS]:
        if total <= limit // 2:
            break
        if len(message["content"]) > len(EMPTIED):
            total -= len(message["content"]) - len(EMPTIED)
            message["content"] = EMPTIED
            emptied = True
    return emptied


def as_sent_back(message: Message) -> Message:
    """An answer as providers accept it in the next request, whatever the model wrote.

    Its reasoning fields are kept, because some providers want them back within a chain of tool calls.
    """
    kept: Message = {name: message[name] for name in REASONING_FIELDS if message.get(name)}
    content = message.get("content")
    calls = [_well_formed(call, index) for index, call in enumerate(message.get("tool_calls") or [])]
    if calls:
        kept["tool_calls"] = calls
    return {"role": "assistant", "content": content if isinstance(content, str) else "", **kept}


def _well_formed(call: Any, index: int) -> Message:
    call = call if isinstance(call, dict) else {}
    function = call.get("function") or {}
    arguments = function.get("arguments") or "{}"
    return {
        **call,
        "id": call.get("id") or f"call_{index}",
        "type": "function",
        "function": {"name": str(function.get("name") or ""), "arguments": _as_json_object(arguments)},
    }


def _as_json_object(arguments: Any) -> str:
    """The arguments as JSON text; what is none is wrapped, so that the tool can refuse it by name."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = arguments
    if isinstance(value, dict):
        return arguments if isinstance(arguments, str) else json.dumps(value)
    return json.dumps({"malformed_arguments": value})
