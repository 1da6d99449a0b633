"""OpenAI responses, the request: what the gateway sets, and what the harness said. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawbench.gateway.dialects.chat_request import text_of
from clawbench.gateway.dialects.json_values import mapping, mappings, parse_or_text, size_of
from clawbench.gateway.exchange import Block, Message, Prompt, text_block, tool_call_block
from clawbench.models import Model

_INSTRUCTING = ("system", "developer")


def settings_for(request: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The top-level fields that the gateway adds to a request or replaces in it."""
    fields: dict[str, Any] = {"model": model.upstream_name}
    if model.temperature is not None and "temperature" not in request:
        fields["temperature"] = model.temperature
    if model.max_tokens is not None and "max_output_tokens" not in request:
        fields["max_output_tokens"] = model.max_tokens
    return {name: value for name, value in fields.items() if request.get(name) != value}


def read_prompt(request: Mapping[str, Any]) -> Prompt:
    """The conversation of a request, as far as the request itself holds it."""
    given = request.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else mappings(given)
    told = [text_of(request.get("instructions"))]
    told += [text_of(item.get("content")) for item in items if item.get("role") in _INSTRUCTING]
    return Prompt(
        messages=_messages([item for item in items if item.get("role") not in _INSTRUCTING]),
        system="\n\n".join(text for text in told if text),
        tools=[_tool(tool) for tool in offered(request)],
        continues=_name(request.get("previous_response_id")) or _name(request.get("conversation")),
        kept_as=_name(request.get("conversation")),
    )


def _name(kept: Any) -> str | None:
    name = kept.get("id") if isinstance(kept, Mapping) else kept
    return name if isinstance(name, str) and name else None


def output_content(items: list[Mapping[str, Any]]) -> list[Block]:
    """Blocks of the items that a model wrote in one turn."""
    return [block for item in items for block in _blocks(item)]


def is_output(item: Mapping[str, Any]) -> bool:
    """The model wrote this item, not the harness."""
    kind = str(item.get("type") or "message")
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith("_call")


def _messages(items: list[Mapping[str, Any]]) -> list[Message]:
    # An answer comes back as several items; in the conversation it is one message again.
    messages: list[Message] = []
    previous = False
    for item in items:
        current = is_output(item)
        if current and previous:
            messages[-1]["content"] += _blocks(item)
        elif current:
            messages.append({"role": "assistant", "content": _blocks(item)})
        elif item.get("type") != "item_reference":
            messages.append(_said(item))
        previous = current
    return messages


def _said(item: Mapping[str, Any]) -> Message:
    if str(item.get("type")).endswith("_output"):
        result: Message = {"role": "toolResult", "content": _parts(item.get("output"))}
        return {**result, "toolCallId": item["call_id"]} if item.get("call_id") else result
    return {"role": "user", "content": _parts(item.get("content"))}


def _blocks(item: Mapping[str, Any]) -> list[Block]:
    kind = str(item.get("type") or "message")
    if kind == "message":
        return _parts(item.get("content"))
    if kind == "reasoning":
        thought = text_of(item.get("summary")) or text_of(item.get("content"))
        return [{"type": "thinking", "thinking": thought}] if thought else []
    if kind == "function_call":
        name = in_namespace(item.get("namespace"), item.get("name"))
        return [tool_call_block(item.get("call_id"), name, parse_or_text(item.get("arguments")))]
    if kind == "custom_tool_call":
        return [tool_call_block(item.get("call_id"), item.get("name"), item.get("input"))]
    # A tool that the provider runs itself: a web search, say.
    asked = item.get("action") or item.get("queries") or item.get("code")
    return [tool_call_block(item.get("call_id") or item.get("id"), kind.removesuffix("_call"), asked)]


def _parts(content: Any) -> list[Block]:
    if not isinstance(content, list):
        return [text_block(content if isinstance(content, str) else "")]
    return [_part(part) for part in mappings(content)]


def _part(part: Mapping[str, Any]) -> Block:
    said = part.get("text") if part.get("text") is not None else part.get("refusal")
    if isinstance(said, str):
        return text_block(said)
    return {"type": "attachment", "kind": str(part.get("type")), "characters": size_of(part)}


def offered(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every tool of a request by its full name; those of a namespace with the namespace's name in front."""
    for tool in mappings(request.get("tools")):
        if tool.get("type") != "namespace":
            yield tool
            continue
        space = tool.get("name")
        for inner in mappings(tool.get("tools")):
            yield {**inner, "name": in_namespace(space, inner.get("name")), "namespace": space}


def in_namespace(namespace: Any, name: Any) -> Any:
    return f"{namespace}__{name}" if namespace else name


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    if tool.get("type") != "function":
        return {"name": tool.get("name") or tool.get("type"), **tool}
    inner = mapping(tool.get("function")) or tool
    return {name: value for name, value in inner.items() if name != "type"}
