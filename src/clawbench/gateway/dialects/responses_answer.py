"""OpenAI responses, the answer: read from the bytes that passed, whole or streamed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from clawbench.gateway import usage
from clawbench.gateway.dialects.json_values import error_text, mapping, mappings, parse
from clawbench.gateway.dialects.responses_request import is_output, output_content
from clawbench.gateway.exchange import Answer
from clawbench.gateway.sse import data_of

_CHARGED = frozenset(
    ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call")
)
_LAST = frozenset(("response.completed", "response.incomplete", "response.failed"))


def read_whole(raw: bytes) -> Answer:
    """An answer that came as one JSON object."""
    body = parse(raw)
    if not isinstance(body, Mapping):
        return Answer(error="the answer is not a JSON object")
    return _answer(body, mappings(body.get("output")), complete=True)


def read_stream(raw: bytes) -> Answer:
    """An answer that came as server-sent events, complete or broken off."""
    assembly = _Assembly()
    for data in data_of(raw):
        event = parse(data)
        if isinstance(event, Mapping):
            assembly.take(event)
    return assembly.answer()


def _answer(response: Mapping[str, Any], items: list[Mapping[str, Any]], *, complete: bool) -> Answer:
    finished = complete and response.get("status") not in ("queued", "in_progress")
    reported = response.get("usage")
    return Answer(
        content=output_content([item for item in items if is_output(item)]),
        finish_reason=_finish_reason(response) if finished else None,
        usage=usage.from_responses(reported),
        billed_usd=usage.billed_cost(reported),
        model=response.get("model"),
        error=error_text(response.get("error")),
        complete=complete,
        service_tier=response.get("service_tier"),
        uses=_uses(items),
        id=response.get("id") if isinstance(response.get("id"), str) else None,
    )


def _uses(items: list[Mapping[str, Any]]) -> dict[str, int]:
    """Tools that the provider runs and charges for, beside tokens."""
    kinds = [str(item.get("type")) for item in items]
    return dict(Counter(kind.removesuffix("_call") for kind in kinds if kind in _CHARGED))


def _finish_reason(response: Mapping[str, Any]) -> str:
    reason = mapping(response.get("incomplete_details")).get("reason")
    return str(reason or response.get("status") or "completed")


class _Assembly:
    """Puts the items of a streamed response together again."""

    def __init__(self) -> None:
        self._response: Mapping[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._error: str | None = None
        self._complete = False

    def take(self, event: Mapping[str, Any]) -> None:
        kind = str(event.get("type"))
        if isinstance(event.get("response"), Mapping):
            self._response = event["response"]
        if kind in _LAST:
            self._complete = True
        elif kind == "error":
            self._error = error_text(event.get("error") or event)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[self._slot(event)] = dict(mapping(event.get("item")))
        elif kind.endswith(".delta") and isinstance(event.get("delta"), str):
            self._add(kind, self._items.setdefault(self._slot(event), {}), event["delta"])

    def answer(self) -> Answer:
        # Some servers leave the output out of the last event.
        items = mappings(self._response.get("output")) or [self._items[slot] for slot in sorted(self._items)]
        answer = _answer(self._response, items, complete=self._complete)
        return answer if self._error is None else _with_error(answer, self._error)

    def _slot(self, event: Mapping[str, Any]) -> int:
        index = event.get("output_index")
        return index if isinstance(index, int) else len(self._items)

    @staticmethod
    def _add(kind: str, item: dict[str, Any], delta: str) -> None:
        if kind == "response.function_call_arguments.delta":
            item["arguments"] = str(item.get("arguments") or "") + delta
        elif kind == "response.custom_tool_call_input.delta":
            item["input"] = str(item.get("input") or "") + delta
        else:
            place = "summary" if "reasoning_summary" in kind else "content"
            item.setdefault("type", "reasoning" if "reasoning" in kind else "message")
            if item["type"] == "message":
                item.setdefault("role", "assistant")
            parts = item.get(place) or [{"type": "text", "text": ""}]
            parts[-1] = {**parts[-1], "text": str(parts[-1].get("text") or "") + delta}
            item[place] = parts


def _with_error(answer: Answer, error: str) -> Answer:
    return Answer(content=answer.content, usage=answer.usage, model=answer.model, error=error)
