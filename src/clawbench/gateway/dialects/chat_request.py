"""OpenAI chat completions, the request: what the gateway sets, and what the harness said. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from clawbench.gateway.dialects.json_values import parse_or_text
from clawbench.gateway.exchange import Block, Message, Prompt, text_block, tool_call_block
from clawbench.models import Model

_INSTRUCTING = ("system", "developer")


def settings_for(request: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The top-level fields that the gateway adds to a request or replaces in it."""
    fields: dict[str, Any] = {"model": model.upstream_name}
    if model.temperature is not None and "temperature" not in request:
        fields["temperature"] = model.temperature
    if model.max_tokens is not None and not {"max_tokens", "max_completion_tokens"} & set(request):
        fields[_limit_name(model)] = model.max_tokens
    if request.get("stream") is True:
        options = request.get("stream_options")
        options = dict(options) if isinstance(options, Mapping) else {}
        if options.get("include_usage") is not True:
            fields["stream_options"] = {**options, "include_usage": True}
    return {name: value for name, value in fields.items() if request.get(name) != value}


def read_prompt(request: Mapping[str, Any]) -> Prompt:
    """The conversation of a request; what cannot be understood is left out, never an error."""
    given = request.get("messages")
    messages = (
        [message for message in given if isinstance(message, Mapping)] if isinstance(given, list) else []
    )
    instructions = [m for m in messages if m.get("role") in _INSTRUCTING]
    tools = request.get("tools")
    return Prompt(
        messages=[_message(m) for m in messages if m.get("role") not in _INSTRUCTING],
        system="\n\n".join(text_of(m.get("content")) for m in instructions),
        tools=[_tool(tool) for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else [],
    )


def text_of(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def assistant_content(message: Mapping[str, Any]) -> list[Block]:
    """Thinking, text and tool calls of an assistant message, in that order."""
    thinking = message.get("reasoning_content") or message.get("reasoning")
    blocks: list[Block] = []
    if isinstance(thinking, str) and thinking:
        blocks.append({"type": "thinking", "thinking": thinking})
    text = text_of(message.get("content")) or text_of(message.get("refusal"))
    if text:
        blocks.append(text_block(text))
    calls = message.get("tool_calls")
    blocks += [_tool_call(call) for call in calls or [] if isinstance(call, Mapping)]
    return blocks


def _limit_name(model: Model) -> str:
    # OpenAI's own reasoning models refuse max_tokens; most other servers know nothing else.
    return "max_completion_tokens" if urlsplit(model.base_url).hostname == "api.openai.com" else "max_tokens"


def _message(message: Mapping[str, Any]) -> Message:
    role = message.get("role")
    if role == "assistant":
        return {"role": "assistant", "content": assistant_content(message)}
    if role in ("tool", "function"):
        result = {"role": "toolResult", "content": [text_block(text_of(message.get("content")))]}
        given = {"toolCallId": message.get("tool_call_id"), "toolName": message.get("name")}
        return {**result, **{name: value for name, value in given.items() if value}}
    return {"role": "user", "content": _parts(message.get("content"))}


def _parts(content: Any) -> list[Block]:
    if not isinstance(content, list):
        return [text_block(text_of(content))]
    return [_part(part) for part in content if isinstance(part, Mapping)]


def _part(part: Mapping[str, Any]) -> Block:
    if isinstance(part.get("text"), str):
        return text_block(part["text"])
    # Pictures and sounds stay in llm-calls.jsonl; the conversation says that they were there.
    return {"type": "attachment", "kind": str(part.get("type")), "characters": len(json.dumps(part))}


def _tool_call(call: Mapping[str, Any]) -> Block:
    function = call.get("function")
    function = function if isinstance(function, Mapping) else {}
    return tool_call_block(call.get("id"), function.get("name"), parse_or_text(function.get("arguments")))


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool.get("function")
    return dict(function) if isinstance(function, Mapping) else dict(tool)
