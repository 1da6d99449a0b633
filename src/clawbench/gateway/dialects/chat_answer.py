"""OpenAI chat completions, the answer: read from the bytes that passed, whole or streamed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway import usage
from clawbench.gateway.dialects.chat_request import assistant_content
from clawbench.gateway.dialects.json_values import error_text, mapping, mappings, parse
from clawbench.gateway.exchange import Answer
from clawbench.gateway.sse import data_of

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def read_whole(raw: bytes) -> Answer:
    """An answer that came as one JSON object."""
    body = parse(raw)
    if not isinstance(body, Mapping):
        return Answer(error="the answer is not a JSON object")
    choice = _first_choice(body)
    message = choice.get("message")
    return Answer(
        content=assistant_content(message) if isinstance(message, Mapping) else [],
        finish_reason=choice.get("finish_reason"),
        usage=usage.from_chat_completions(body.get("usage")),
        billed_usd=usage.billed_cost(body.get("usage")),
        model=body.get("model"),
        error=error_text(body.get("error")),
        complete=True,
        service_tier=body.get("service_tier"),
        uses=_uses(body.get("usage"), mapping(message).get("annotations")),
    )


def read_stream(raw: bytes) -> Answer:
    """An answer that came as server-sent events, complete or broken off."""
    assembly = _Assembly()
    for data in data_of(raw):
        if data == "[DONE]":
            assembly.complete = True
            continue
        chunk = parse(data)
        if isinstance(chunk, Mapping):
            assembly.take(chunk)
    return assembly.answer()


class _Assembly:
    """Puts the deltas of the first choice together again."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish_reason: str | None = None
        self._usage: Any = None
        self._model: str | None = None
        self._tier: str | None = None
        self._error: str | None = None
        self._annotations: list[Any] = []
        self.complete = False

    def take(self, chunk: Mapping[str, Any]) -> None:
        self._usage = chunk.get("usage") or self._usage
        self._model = self._model or chunk.get("model")
        self._tier = chunk.get("service_tier") or self._tier
        self._error = self._error or error_text(chunk.get("error"))
        choice = _first_choice(chunk)
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return
        if isinstance(delta.get("annotations"), list):
            self._annotations += delta["annotations"]
        for name in self._texts:
            if isinstance(delta.get(name), str):
                self._texts[name].append(delta[name])
        for part in delta.get("tool_calls") or []:
            if isinstance(part, Mapping):
                self._take_call(part)

    def _take_call(self, part: Mapping[str, Any]) -> None:
        index = part.get("index")
        slot = index if isinstance(index, int) else len(self._calls)
        call = self._calls.setdefault(slot, {"id": None, "name": None, "arguments": []})
        call["id"] = call["id"] or part.get("id")
        function = part.get("function")
        if isinstance(function, Mapping):
            call["name"] = call["name"] or function.get("name")
            call["arguments"].append(function.get("arguments") or "")

    def answer(self) -> Answer:
        calls = [_whole_call(self._calls[slot]) for slot in sorted(self._calls)]
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        return Answer(
            content=assistant_content({**texts, "tool_calls": calls}),
            finish_reason=self._finish_reason,
            usage=usage.from_chat_completions(self._usage),
            billed_usd=usage.billed_cost(self._usage),
            model=self._model,
            error=self._error,
            complete=self.complete,
            service_tier=self._tier,
            uses=_uses(self._usage, self._annotations),
        )


def _whole_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": "".join(map(str, call["arguments"]))}
    return {"id": call["id"], "function": function}


def _uses(reported: Any, annotations: Any) -> dict[str, int]:
    """Searches that the provider made: counted (OpenRouter, xAI), or seen by the pages that are cited."""
    searches = mapping(mapping(reported).get("server_tool_use")).get("web_search_requests")
    if isinstance(searches, int) and searches > 0:
        return {"web_search": searches}
    sources = mapping(reported).get("num_sources_used")
    if isinstance(sources, int) and sources > 0:
        return {"search_source": sources}
    cited = any(note.get("type") == "url_citation" for note in mappings(annotations))
    return {"web_search": 1} if cited else {}


def _first_choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Choice 0: with several, the conversation follows the first."""
    choices = body.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
            return choice
    return {}
