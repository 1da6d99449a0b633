"""Exact assertions on the intercepted request: a path into it, an operation, a value. No I/O."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from clawbench.results import Check, InterceptedRequest
from clawbench.tasks import Expectation, Operation
from clawbench.tasks.paths import Step, parse_path

SHOWN = 200
"""A found value is cut at this many characters in a report."""


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def check_expectations(expectations: Sequence[Expectation], request: InterceptedRequest) -> list[Check]:
    """One check per expectation, in order; each says what was found where it does not hold."""
    return [_check(expectation, request) for expectation in expectations]


def _check(expectation: Expectation, request: InterceptedRequest) -> Check:
    found = find(expectation.path, request)
    ok = found is not MISSING and _HOLDS[expectation.op](found, expectation.value)
    if expectation.op is Operation.ABSENT:
        ok = found is MISSING
    detail = "" if ok else f"expected {_wanted(expectation)}, found {_shown(found)}"
    return Check(name=f"{expectation.path} {expectation.op.value}", ok=ok, detail=detail)


def find(path: str, request: InterceptedRequest) -> Any:
    """The value at `path`, or MISSING."""
    head, *steps = parse_path(path)
    if head == "headers":
        headers = {name.lower(): value for name, value in request.headers.items()}
        return _descend(headers, [step.lower() if isinstance(step, str) else step for step in steps])
    roots = {"url": request.url, "method": request.method, "params": request.params, "body": request.body}
    return _descend(roots.get(str(head), MISSING), steps)


def _descend(value: Any, steps: Sequence[Step]) -> Any:
    """Follow the steps; where a mapping has the rest of the path as one literal key, that key wins."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict):
        if len(steps) > 1 and all(isinstance(part, str) for part in steps):
            literal = ".".join(map(str, steps))
            if literal in value:
                return value[literal]
        return _descend(value[str(step)], rest) if str(step) in value else MISSING
    if isinstance(value, list):
        index = step if isinstance(step, int) else int(step) if step.isdecimal() and len(step) < 20 else None
        if index is not None and -len(value) <= index < len(value):
            return _descend(value[index], rest)
    return MISSING


def same(found: Any, wanted: Any) -> bool:
    """JSON equality, but numbers and booleans also equal their text, as a form sends them."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(found, dict | list) or isinstance(wanted, dict | list):
        return False
    if found is None or wanted is None:
        return found is wanted
    return _as_text(found) == _as_text(wanted)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _one_of(found: Any, wanted: list[Any]) -> bool:
    return any(same(found, candidate) for candidate in wanted)


def _matches(found: Any, pattern: str) -> bool:
    text = json.dumps(found, ensure_ascii=False) if isinstance(found, dict | list) else None
    return found is not None and re.search(pattern, text or _as_text(found)) is not None


def _number(found: Any, wanted: float) -> bool:
    number = as_number(found)
    return number is not None and math.isclose(number, wanted, rel_tol=1e-9, abs_tol=1e-9)


def as_number(value: Any) -> float | None:
    """`2`, `2.0`, `"2"`, `" $1,250.50 "` as a number; None where it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        match = re.fullmatch(r"\s*[$€£]?\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[+-]?\.\d+)\s*", value)
        return float(match[1].replace(",", "")) if match else None
    try:
        return float(value)
    except OverflowError:  # a request may hold an integer of any length
        return None


def _same_set(found: Any, wanted: list[Any]) -> bool:
    """The same elements in any order, each as often."""
    if not isinstance(found, list) or len(found) != len(wanted):
        return False
    left = list(wanted)
    for item in found:
        match = next((index for index, candidate in enumerate(left) if same(item, candidate)), None)
        if match is None:
            return False
        del left[match]
    return True


_HOLDS: dict[Operation, Callable[[Any, Any], bool]] = {
    Operation.EQUALS: same,
    Operation.ONE_OF: _one_of,
    Operation.REGEX: _matches,
    Operation.NUMBER: _number,
    Operation.SET: _same_set,
    Operation.ABSENT: lambda _found, _wanted: False,
    Operation.EXISTS: lambda _found, _wanted: True,
}


def _wanted(expectation: Expectation) -> str:
    value = _shown(expectation.value)
    return {
        Operation.EQUALS: value,
        Operation.ONE_OF: f"one of {value}",
        Operation.REGEX: f"a match of {value}",
        Operation.NUMBER: f"the number {value}",
        Operation.SET: f"the elements {value} in any order",
        Operation.ABSENT: "nothing",
        Operation.EXISTS: "something",
    }[expectation.op]


def _shown(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
