"""Anthropic messages, the request: what the gateway sets, and what the harness said. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway.dialects.chat_request import text_of
from clawbench.gateway.dialects.json_values import mapping, mappings, size_of
from clawbench.gateway.exchange import Block, Message, Prompt, text_block, tool_call_block
from clawbench.models import Model

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def settings_for(request: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The top-level fields that the gateway adds to a request or replaces in it."""
    fields: dict[str, Any] = {"model": model.upstream_name}
    # The API refuses another temperature than 1 where the model thinks.
    thinks = mapping(request.get("thinking")).get("type") in ("enabled", "adaptive")
    if model.temperature is not None and "temperature" not in request and not thinks:
        fields["temperature"] = model.temperature
    if model.max_tokens is not None and "max_tokens" not in request:
        fields["max_tokens"] = model.max_tokens
    return {name: value for name, value in fields.items() if request.get(name) != value}


def read_prompt(request: Mapping[str, Any]) -> Prompt:
    """The conversation of a request; what cannot be understood is left out, never an error."""
    given = mappings(request.get("messages"))
    told = [text_of(request.get("system"))]
    told += [text_of(message.get("content")) for message in given if message.get("role") == "system"]
    return Prompt(
        messages=[
            part for message in given if message.get("role") != "system" for part in _messages(message)
        ],
        system="\n\n".join(text for text in told if text),
        tools=[_tool(tool) for tool in mappings(request.get("tools"))],
    )


def content_blocks(content: Any) -> list[Block]:
    """Content, a string or a list of blocks, in the one shape."""
    if not isinstance(content, list):
        return [text_block(content if isinstance(content, str) else "")]
    return [made for block in mappings(content) if (made := _block(block)) is not None]


def _messages(message: Mapping[str, Any]) -> list[Message]:
    """One message of the API; results of tools, which it puts into a user's message, apart."""
    content = message.get("content")
    if message.get("role") == "assistant":
        return [{"role": "assistant", "content": content_blocks(content)}]
    results = [block for block in mappings(content) if block.get("type") == "tool_result"]
    said = content
    if isinstance(content, list):
        said = [block for block in mappings(content) if block.get("type") != "tool_result"]
    messages = [_result(block) for block in results]
    return [*messages, {"role": "user", "content": content_blocks(said)}] if said or not results else messages


def _result(block: Mapping[str, Any]) -> Message:
    result: Message = {"role": "toolResult", "content": content_blocks(block.get("content"))}
    if block.get("tool_use_id"):
        result["toolCallId"] = block["tool_use_id"]
    if block.get("is_error"):
        result["isError"] = True
    return result


def _block(block: Mapping[str, Any]) -> Block | None:
    kind = block.get("type")
    if kind == "thinking":
        return {"type": "thinking", "thinking": str(block.get("thinking") or "")}
    if kind in _CALLS:
        return tool_call_block(block.get("id"), block.get("name"), block.get("input"))
    if kind == "redacted_thinking":
        return None
    if isinstance(block.get("text"), str):
        return text_block(block["text"])
    # Pictures and documents stay in llm-calls.jsonl; the conversation says that they were there.
    return {"type": "attachment", "kind": str(kind), "characters": size_of(block)}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in tool.items() if name not in ("input_schema", "cache_control")}
    return {**kept, "parameters": tool["input_schema"]} if "input_schema" in tool else kept
