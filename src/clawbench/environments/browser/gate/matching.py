"""Is this the final request? The eval schema against what a request carries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import chain
from typing import Any

from clawbench.environments.browser.gate.bodies import Body, query_readings
from clawbench.environments.browser.gate.json_text import load_json
from clawbench.environments.browser.gate.spellings import spellings
from clawbench.tasks import EvalSchema

OPERATION = re.compile(r"\b(?:query|mutation|subscription)\s+([_A-Za-z]\w*)")
NO_OPERATION = re.compile(r'"""(?:\\"""|.)*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*', re.DOTALL)


class Decision(Enum):
    PASS = "pass"
    MATCH = "match"
    UNDECIDABLE = "undecidable"
    """URL and method match, and the body that would decide cannot be read: blocked as a match."""


def concerns(schema: EvalSchema, url: str, method: str) -> bool:
    """Whether URL and method match, so that the body has to be looked at."""
    if schema.never_matches or schema.over_websocket or method.upper() != schema.method:
        return False
    return _is_address(schema, url)


def decide(schema: EvalSchema, url: str, method: str, params: Mapping[str, Any], body: Body) -> Decision:
    """What becomes of a request."""
    return _filtered(schema, url, params, body) if concerns(schema, url, method) else Decision.PASS


def decide_frame(schema: EvalSchema, url: str, params: Mapping[str, Any], body: Body) -> Decision:
    """What to make of a frame that a page sends over a WebSocket."""
    if schema.never_matches or not schema.over_websocket or not _is_address(schema, url):
        return Decision.PASS
    return _filtered(schema, url, params, body)


def _is_address(schema: EvalSchema, url: str) -> bool:
    return any(re.search(schema.url_pattern, spelling) for spelling in spellings(url))


def _filtered(schema: EvalSchema, url: str, params: Mapping[str, Any], body: Body) -> Decision:
    if schema.params and not _query_matches(schema.params, url, params):
        return Decision.PASS
    if not schema.body or _body_matches(schema.body, body):
        return Decision.MATCH
    return Decision.PASS if body.complete else Decision.UNDECIDABLE


def _query_matches(filters: Mapping[str, Any], url: str, params: Mapping[str, Any]) -> bool:
    return any(_holds(filters, reading, repeats=True) for reading in chain([params], query_readings(url)))


def _body_matches(filters: Mapping[str, Any], body: Body) -> bool:
    return any(_reading_matches(filters, reading) for reading in chain([body], body.other_readings()))


def _reading_matches(filters: Mapping[str, Any], body: Body) -> bool:
    if isinstance(body.value, str):
        return _holds(filters, {"query": body.value})  # application/graphql: a query and nothing else
    if isinstance(body.value, list) and any(_holds(filters, element) for element in body.value):
        return True
    return _holds(filters, body.value, repeats=body.form)


def _holds(filters: Mapping[str, Any], data: Any, *, repeats: bool = False) -> bool:
    return all(
        any(_equal(wanted, value, repeats=repeats) for value in _found(data, key))
        for key, wanted in filters.items()
    )


def _found(data: Any, path: str) -> Iterator[Any]:
    """Every value that `path` names: as a literal key first, then as a dotted path."""
    if isinstance(data, Mapping):
        if path in data:
            yield data[path]
        if path == "operationName" and not data.get("operationName"):
            yield from _operation_names(data.get("query"))
    elif isinstance(data, list) and path.isdecimal() and int(path) < len(data):
        yield data[int(path)]
    for dot in (index for index, letter in enumerate(path) if letter == "."):
        head, rest = path[:dot], path[dot + 1 :]
        if isinstance(data, Mapping) and head in data:
            yield from _found(_opened(data[head]), rest)
        elif isinstance(data, list) and head.isdecimal() and int(head) < len(data):
            yield from _found(_opened(data[int(head)]), rest)


def _opened(value: Any) -> Any:
    """JSON inside a string (a form field, a GraphQL `variables` parameter) as the data it holds."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return load_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def _operation_names(query: Any) -> list[str]:
    """The operations a GraphQL document defines, for requests that do not name one."""
    if not isinstance(query, str):
        return []
    return OPERATION.findall(NO_OPERATION.sub(" ", query))


def _equal(wanted: Any, value: Any, *, repeats: bool = False) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(value := _opened(value), Mapping) and _holds(wanted, value)
    if isinstance(wanted, list):
        return (
            isinstance(value := _opened(value), list)
            and len(value) == len(wanted)
            and all(map(_equal, wanted, value))
        )
    if repeats and isinstance(value, list):
        return any(_equal(wanted, one) for one in value)
    if wanted is None or value is None:
        return wanted is value
    if isinstance(value, Mapping | list):
        return False
    return not _as_texts(wanted).isdisjoint(_as_texts(value))


def _as_texts(value: Any) -> set[str]:
    """As a form would send it: 1 equals "1", 1.0 also "1.0", true "true"."""
    if isinstance(value, bool):
        return {"true" if value else "false"}
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return {str(int(value)), str(value)}
    return {str(value)}
