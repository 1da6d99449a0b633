"""Answers as OpenAI responses, whole or as a stream. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from clawbench.gateway.dialects.responses_request import offered
from clawbench.gateway.scripted.script import Script, named_event, piece_size, pieces
from clawbench.results import Usage

Event = tuple[str, dict[str, Any]]


class ResponsesShape:
    def whole(self, script: Script) -> dict[str, Any]:
        """A response object."""
        return _response(script, "completed", _items(script), usage_object(script.usage))

    def events(self, script: Script) -> Iterator[bytes]:
        """Every event of every item, numbered, between response.created and response.completed."""
        numbers = itertools.count()
        for kind, fields in _events(script, self.whole(script)):
            yield named_event(f"response.{kind}", sequence_number=next(numbers), **fields)

    def counted(self, tokens: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": tokens}


def usage_object(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def _response(script: Script, status: str, output: list[dict[str, Any]], usage: Any) -> dict[str, Any]:
    request = script.request
    return {
        "id": f"resp_scripted_{script.mark}",
        "object": "response",
        "created_at": script.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "model": script.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "service_tier": "default",
        "store": request.get("store", True),
        "temperature": request.get("temperature", 1.0),
        "text": {"format": {"type": "text"}},
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "metadata": request.get("metadata") or {},
    }


def _items(script: Script) -> list[dict[str, Any]]:
    move, mark = script.move, script.mark
    items: list[dict[str, Any]] = []
    if move.thinking:
        summary = [{"type": "summary_text", "text": move.thinking}]
        items.append({"type": "reasoning", "id": f"rs_{mark}", "summary": summary})
    if move.text:
        said = {"type": "output_text", "text": move.text, "annotations": [], "logprobs": []}
        head = {"type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed"}
        items.append({**head, "content": [said]})
    for call_id, name, arguments in script.calls("call_"):
        called = _address(name, script.request)
        call = {"call_id": call_id, **called, "arguments": script.written(arguments)}
        items.append({"type": "function_call", "id": f"fc_{call_id}", "status": "completed", **call})
    return items


def _address(name: str, request: Mapping[str, Any]) -> dict[str, str]:
    """A tool of a namespace is called by its name there, with the namespace beside it."""
    for tool in offered(request):
        if tool.get("name") == name and (namespace := tool.get("namespace")):
            return {"name": name.removeprefix(f"{namespace}__"), "namespace": str(namespace)}
    return {"name": name}


def _events(script: Script, whole: dict[str, Any]) -> Iterator[Event]:
    begun = _response(script, "in_progress", [], None)
    yield "created", {"response": begun}
    yield "in_progress", {"response": begun}
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        yield "output_item.added", {"output_index": index, "item": _empty(item)}
        if item["type"] == "reasoning":
            names = ("reasoning_summary_part", "reasoning_summary_text")
            yield from _text({**place, "summary_index": 0}, item["summary"][0], *names)
        elif item["type"] == "message":
            names = ("content_part", "output_text")
            yield from _text({**place, "content_index": 0}, item["content"][0], *names)
        else:
            for piece in pieces(item["arguments"]):
                yield "function_call_arguments.delta", {**place, "delta": piece}
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield "function_call_arguments.done", {**place, **done}
        yield "output_item.done", {"output_index": index, "item": item}
    yield "completed", {"response": whole}


def _text(place: dict[str, Any], part: dict[str, Any], outer: str, inner: str) -> Iterator[Event]:
    extra: dict[str, Any] = {"logprobs": []} if inner == "output_text" else {}
    yield f"{outer}.added", {**place, "part": {**part, "text": ""}}
    for piece in pieces(part["text"], piece_size(part["text"])):
        yield f"{inner}.delta", {**place, "delta": piece, **extra}
    yield f"{inner}.done", {**place, "text": part["text"], **extra}
    yield f"{outer}.done", {**place, "part": part}


def _empty(item: dict[str, Any]) -> dict[str, Any]:
    emptied: dict[str, Any] = {"summary": []} if item["type"] == "reasoning" else {"status": "in_progress"}
    if item["type"] == "message":
        emptied["content"] = []
    if item["type"] == "function_call":
        emptied["arguments"] = ""
    return {**item, **emptied}
