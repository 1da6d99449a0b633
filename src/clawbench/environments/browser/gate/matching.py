"""Is this the final request? The eval schema against what a request carries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import chain
from typing import Any

from clawbench.environments.browser.gate.bodies import Body, query_readings
from clawbench.environments.browser.gate.json_text import load_loosely
from clawbench.environments.browser.gate.spellings import spellings
from clawbench.tasks import EvalSchema

OPERATION = re.compile(r"\b(?:query|mutation|subscription)[\s,\ufeff]+([_A-Za-z]\w*)")
NO_OPERATION = re.compile(r'"""(?:[^"\\]+|\\"""|.)*?(?:"""|\Z)|"(?:[^"\\\r\n]+|\\.)*"?|#[^\r\n]*', re.DOTALL)
"""Comments and strings, also such as never end: else one would look for the end from each of their quotes."""


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
    return _body_decision(schema.body, body) if schema.body else Decision.MATCH


def _query_matches(filters: Mapping[str, Any], url: str, params: Mapping[str, Any]) -> bool:
    return any(_holds(filters, reading, repeats=True) for reading in chain([params], query_readings(url)))


def _body_decision(filters: Mapping[str, Any], body: Body) -> Decision:
    understood = False
    for reading in chain([body], body.other_readings()):
        if _reading_matches(filters, reading):
            return Decision.MATCH
        understood = understood or reading.understood
    return Decision.PASS if understood and body.complete else Decision.UNDECIDABLE


def _reading_matches(filters: Mapping[str, Any], body: Body) -> bool:
    if isinstance(body.value, str):
        return _holds(filters, {"query": body.value})  # application/graphql: a query and nothing else
    if isinstance(body.value, list) and any(_holds(filters, element) for element in body.value):
        return True
    return _holds(filters, body.value, repeats=body.form)


def _holds(filters: Mapping[str, Any], data: Any, *, repeats: bool = False) -> bool:
    return all(
        any(_equal(wanted, value, repeats=repeats) for value in _found(data, key, repeats))
        for key, wanted in filters.items()
    )


def _found(data: Any, path: str, repeats: bool) -> Iterator[Any]:
    """Every value that `path` names: as a literal key first, then as a dotted path."""
    if isinstance(data, Mapping):
        if path in data:
            yield data[path]
        if path == "operationName" and not data.get("operationName"):
            yield from _operation_names(data.get("query"), repeats)
    elif isinstance(data, list) and path.isdecimal() and int(path) < len(data):
        yield data[int(path)]
    for dot in (index for index, letter in enumerate(path) if letter == "."):
        head, rest = path[:dot], path[dot + 1 :]
        if isinstance(data, Mapping) and head in data:
            yield from _found_in(data[head], rest, repeats)
        elif isinstance(data, list) and head.isdecimal() and int(head) < len(data):
            yield from _found_in(data[int(head)], rest, repeats)


def _found_in(value: Any, path: str, repeats: bool) -> Iterator[Any]:
    """In JSON inside a field, lists are lists again."""
    inside = _opened(value)
    yield from _found(inside, path, repeats and inside is value)
    if repeats and isinstance(value, list):
        for one in value:
            yield from _found(_opened(one), path, False)


def _opened(value: Any) -> Any:
    """JSON inside a string (a form field, a GraphQL `variables` parameter) as the data it holds."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return load_loosely(value)
        except (ValueError, RecursionError):
            return value
    return value


def _operation_names(query: Any, repeats: bool) -> Iterator[str]:
    """The operations a GraphQL document defines, for requests that do not name one."""
    for document in query if repeats and isinstance(query, list) else (query,):
        if isinstance(document, str):
            yield from OPERATION.findall(NO_OPERATION.sub(" ", document))


def _equal(wanted: Any, value: Any, *, repeats: bool = False) -> bool:
    """`repeats`: a list stands for a repeated field, of which any value may count."""
    if repeats and isinstance(value, list) and any(_equal(wanted, one) for one in value):
        return True
    if isinstance(wanted, Mapping):
        inside = _opened(value)
        return isinstance(inside, Mapping) and _holds(wanted, inside, repeats=repeats and inside is value)
    if isinstance(wanted, list):
        return (
            isinstance(value := _opened(value), list)
            and len(value) == len(wanted)
            and all(map(_equal, wanted, value))
        )
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
