"""Google's generateContent, the answer: one object, events, or an array that grows. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clawbench.gateway import usage
from clawbench.gateway.dialects.google_request import content_blocks
from clawbench.gateway.dialects.json_values import error_text, mapping, mappings, parse
from clawbench.gateway.exchange import Answer
from clawbench.gateway.sse import data_of


def read(raw: bytes, *, streamed: bool) -> Answer:
    """An answer, complete or broken off."""
    if streamed:
        return _put_together([parse(data) for data in data_of(raw)])
    text = raw.decode("utf-8", "replace").strip()
    if text.startswith("["):
        return _put_together(list(_elements(text)), closed=parse(text) is not None)
    body = parse(raw)
    if not isinstance(body, Mapping):
        return Answer(error="the answer is not a JSON object")
    return _put_together([body], closed=True)


def _put_together(chunks: list[Any], *, closed: bool = False) -> Answer:
    reported: dict[str, Any] = {}
    parts: list[Mapping[str, Any]] = []
    finish = model = error = None
    searches = 0
    for chunk in mappings(chunks):
        # Totals so far, not additions.
        reported |= mapping(chunk.get("usageMetadata"))
        model = chunk.get("modelVersion") or model
        error = error or error_text(chunk.get("error"))
        candidate = _first_candidate(chunk)
        searches = max(searches, _searches(candidate))
        parts += mappings(mapping(candidate.get("content")).get("parts"))
        finish = candidate.get("finishReason") or _blocked(chunk) or finish
    return Answer(
        content=content_blocks(parts),
        finish_reason=finish,
        usage=usage.from_google(reported),
        billed_usd=usage.billed_cost(reported),
        model=model,
        error=error,
        complete=closed or finish is not None,
        usage_final=closed or finish is not None,
        service_tier=reported.get("serviceTier") or reported.get("trafficType"),
        uses={"google_search": searches} if searches else {},
    )


def _elements(text: str) -> Iterator[Any]:
    """The whole elements of an array whose end may be missing."""
    decoder, place = json.JSONDecoder(), 1
    while True:
        while place < len(text) and text[place] in ", \r\n\t":
            place += 1
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield value


def _first_candidate(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    candidates = mappings(chunk.get("candidates"))
    return next((one for one in candidates if one.get("index", 0) == 0), {})


def _searches(candidate: Mapping[str, Any]) -> int:
    """Searches that the model made; whether one or all of them are charged depends on the model."""
    queries = mapping(candidate.get("groundingMetadata")).get("webSearchQueries")
    return len(queries) if isinstance(queries, list) else 0


def _blocked(chunk: Mapping[str, Any]) -> str | None:
    return mapping(chunk.get("promptFeedback")).get("blockReason")
