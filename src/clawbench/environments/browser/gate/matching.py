"""Is this the final request? The eval schema against what a request carries. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any

from clawbench.environments.browser.gate.bodies import Body, query_readings
from clawbench.environments.browser.gate.json_text import load_loosely
from clawbench.environments.browser.gate.spellings import spellings
from clawbench.tasks import EvalSchema

DEFINING = ("query", "mutation", "subscription")
OPERATION = re.compile(rf"([\[({{])|[\])}}]|\b(?:{'|'.join(DEFINING)})[\s,\ufeff]+([_A-Za-z]\w*)")
"""Brackets as well: what stands in some is a field or a value, whatever its name."""
NO_OPERATION = re.compile(r'"""(?:[^"\\]+|\\"""|.)*?(?:"""|\Z)|"(?:[^"\\\r\n]+|\\.)*"?|#[^\r\n]*', re.DOTALL)
"""Comments and strings, also such as never end: else one would look for the end from each of their quotes."""
EXPONENT = re.compile(r"e([+-])0+")
PLAIN_IN_JAVASCRIPT = (1e-6, 1e21)
"""JavaScript writes numbers of these sizes without an exponent."""
LARGEST_EXACT = 2**53


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
    if isinstance(body.value, str):  # a GraphQL document and nothing else has a name all the same
        return any(_holds(filters, {"operationName": name}) for name in _operation_names(body.value))
    if isinstance(body.value, list) and any(_holds(filters, element) for element in body.value):
        return True
    return _holds(filters, body.value, repeats=body.form)


def _holds(filters: Mapping[str, Any], data: Any, *, repeats: bool = False) -> bool:
    return all(
        any(_equal(wanted, value, repeats=repeats) for value in _found(data, key, repeats))
        for key, wanted in filters.items()
    )


def _found(data: Any, path: str, repeats: bool) -> Iterator[Any]:
    """Every value that `path` names, as a literal key and as a dotted path."""
    if isinstance(data, Mapping):
        if path in data:
            yield data[path]
        if path == "operationName" and not data.get("operationName"):
            documents = data.get("query")
            for document in documents if repeats and isinstance(documents, list) else (documents,):
                yield from _operation_names(document)
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


def _operation_names(document: Any) -> Iterator[str]:
    """The operations a GraphQL document defines, for requests that do not name one."""
    if not isinstance(document, str) or not any(word in document for word in DEFINING):
        return
    depth = 0
    for found in OPERATION.finditer(NO_OPERATION.sub(" ", document)):
        opening, name = found.groups()
        if name is None:
            depth = depth + 1 if opening else max(0, depth - 1)
        elif depth == 0:
            yield name


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
    """As a page would send it: 1 equals "1", 1.0 also "1.0", 1e-5 "0.00001", true "true"."""
    if isinstance(value, bool):
        return {"true" if value else "false"}
    if isinstance(value, float) and math.isfinite(value):
        return {str(value), _in_digits(value), _in_javascript(value)}
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return {str(value), *_large_in_javascript(value)}
    return {str(value)}


def _in_digits(number: float) -> str:
    """Without an exponent."""
    return format(Decimal(repr(number)), "f").removesuffix(".0") if number else "0"


def _in_javascript(number: float) -> str:
    smallest, too_large = PLAIN_IN_JAVASCRIPT
    if not number or smallest <= abs(number) < too_large:
        return _in_digits(number)
    return EXPONENT.sub(r"e\1", repr(number))


def _large_in_javascript(number: int) -> Iterator[str]:
    """Where it is this number that a page can have, and not only one next to it."""
    with suppress(OverflowError):
        nearest = float(number)
        if str(number) in (str(int(nearest)), _in_digits(nearest)):
            yield _in_javascript(nearest)
