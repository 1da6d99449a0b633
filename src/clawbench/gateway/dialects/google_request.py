"""Google's generateContent, the request: what the gateway sets, and what the harness said. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clawbench.gateway.dialects.json_values import mapping, mappings, size_of
from clawbench.gateway.exchange import Block, Message, Prompt, text_block, tool_call_block
from clawbench.models import Model


def settings_for(request: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The generation config with the model's settings, where they are not the harness's own."""
    name = "generation_config" if "generation_config" in request else "generationConfig"
    given = mapping(request.get(name))
    added: dict[str, Any] = {}
    if model.temperature is not None and "temperature" not in given:
        added["temperature"] = model.temperature
    if model.max_tokens is not None and not {"maxOutputTokens", "max_output_tokens"} & set(given):
        added["maxOutputTokens"] = model.max_tokens
    return {name: {**given, **added}} if added else {}


def read_prompt(request: Mapping[str, Any]) -> Prompt:
    """The conversation of a request; the API takes names in camel and in snake case."""
    given = request.get("contents")
    contents = [{"parts": [{"text": given}]}] if isinstance(given, str) else mappings(given)
    system = mapping(_either(request, "systemInstruction", "system_instruction"))
    return Prompt(
        messages=[message for content in contents for message in _messages(content)],
        system="\n".join(str(part.get("text") or "") for part in _parts_of(system)),
        tools=[made for tool in mappings(request.get("tools")) for made in _tools(tool)],
    )


def content_blocks(parts: list[Mapping[str, Any]]) -> list[Block]:
    """Parts in the one shape; pieces of one text, as streams bring them, become one block."""
    blocks: list[Block] = []
    for part in parts:
        block = _block(part)
        kind = block["type"]
        if kind in ("text", "thinking") and blocks and blocks[-1]["type"] == kind:
            blocks[-1] = {**blocks[-1], kind: blocks[-1][kind] + block[kind]}
        elif block.get(kind) != "":
            blocks.append(block)
    return blocks


def _messages(content: Mapping[str, Any]) -> list[Message]:
    parts = _parts_of(content)
    if content.get("role") == "model":
        return [{"role": "assistant", "content": content_blocks(parts)}]
    results = [part for part in parts if _response(part)]
    said = [part for part in parts if not _response(part)]
    messages = [_result(_response(part)) for part in results]
    return [*messages, {"role": "user", "content": content_blocks(said)}] if said or not results else messages


def _result(response: Mapping[str, Any]) -> Message:
    said = response.get("response")
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    if isinstance(said, Mapping) and len(said) == 1:
        # The client library wraps a plain result as {"result": …}.
        [(name, only)] = said.items()
        text = only if name in ("result", "output", "error") and isinstance(only, str) else text
    given = {"toolCallId": response.get("id"), "toolName": response.get("name")}
    kept = {name: value for name, value in given.items() if value}
    return {"role": "toolResult", "content": [text_block(text)], **kept}


def _block(part: Mapping[str, Any]) -> Block:
    call = mapping(_either(part, "functionCall", "function_call"))
    if call:
        return tool_call_block(call.get("id"), call.get("name"), call.get("args") or {})
    text = part.get("text")
    if isinstance(text, str):
        return {"type": "thinking", "thinking": text} if part.get("thought") is True else text_block(text)
    kind = next((name for name in part if name not in ("thought", "thoughtSignature")), "part")
    return {"type": "attachment", "kind": kind, "characters": size_of(part)}


def _response(part: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(_either(part, "functionResponse", "function_response"))


def _parts_of(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = content.get("parts")
    return [parts] if isinstance(parts, Mapping) else mappings(parts)


def _tools(tool: Mapping[str, Any]) -> list[dict[str, Any]]:
    declared = _either(tool, "functionDeclarations", "function_declarations")
    if declared is None:
        return [{"name": name, "parameters": value} for name, value in tool.items()]
    return [_declaration(one) for one in mappings(declared)]


def _declaration(declaration: Mapping[str, Any]) -> dict[str, Any]:
    schemas = ("parametersJsonSchema", "parameters_json_schema")
    kept = {name: value for name, value in declaration.items() if name not in schemas}
    schema = next((declaration[name] for name in schemas if name in declaration), None)
    return kept if schema is None else {**kept, "parameters": schema}


def _either(values: Mapping[str, Any], camel: str, snake: str) -> Any:
    return values[camel] if camel in values else values.get(snake)
