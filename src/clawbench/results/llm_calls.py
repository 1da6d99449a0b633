"""llm-calls.jsonl: each model call a line; what an earlier line already holds is only pointed at.

Harnesses send the whole conversation, screenshots included, with every call: written out each time, the
file would grow with the square of the run's length.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawbench.errors import InputError
from clawbench.results.files import JsonLines, read_json_lines

SAME = "$same_as"
"""`{"$same_as": "call-00001/messages/3"}`: what stands there in that call's `request`."""
SMALLEST_SHARED = 1024
DEEPEST_SHARED = 32


class _PointerLikeError(Exception):
    """The request itself holds what looks like one of our pointers."""


@dataclass(frozen=True)
class SharedRequest:
    """A request as it is written."""

    value: Any
    new: Mapping[bytes, str]
    """Where each large part of it stands that no earlier line holds."""


class CallLog(JsonLines):
    """Appends calls; a part of a request is written once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._known: dict[bytes, str] = {}

    def share(self, call_id: str, request: Mapping[str, Any]) -> SharedRequest:
        """The request with pointers to lines that are in the file now."""
        new: dict[bytes, str] = {}
        try:
            value = {
                name: self._shared(part, f"{call_id}/{_escaped(name)}", new) for name, part in request.items()
            }
        except (_PointerLikeError, RecursionError):
            return SharedRequest(dict(request), {})
        return SharedRequest(value, new)

    def remember(self, request: SharedRequest) -> None:
        """A line with this request is in the file: later ones may point at it."""
        for digest, where in request.new.items():
            self._known.setdefault(digest, where)

    def _shared(self, value: Any, where: str, new: dict[bytes, str], depth: int = 0) -> Any:
        digest = None if depth > DEEPEST_SHARED else _digest(value)
        if digest is None:
            return value
        if digest in self._known:
            return {SAME: self._known[digest]}
        new.setdefault(digest, where)
        if isinstance(value, dict):
            return {
                name: self._shared(part, f"{where}/{_escaped(name)}", new, depth + 1)
                for name, part in value.items()
            }
        if isinstance(value, list):
            return [self._shared(part, f"{where}/{i}", new, depth + 1) for i, part in enumerate(value)]
        return value


def read_llm_calls(path: Path) -> Iterator[dict[str, Any]]:
    """Each line in order, requests written out; a last line cut short by a crash is left out."""
    requests: dict[str, Any] = {}
    for number, line in enumerate(read_json_lines(path), 1):
        if not isinstance(line, dict):
            raise _bad(path, number, "is not an object")
        if "request" in line:
            line["request"] = written_out(line["request"], requests, path, number)
            requests[str(line.get("id"))] = line["request"]
        yield line


def written_out(value: Any, requests: Mapping[str, Any], path: Path, number: int) -> Any:
    """`value` with what its pointers mean."""
    if isinstance(value, list):
        return [written_out(part, requests, path, number) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {SAME}:
        try:
            return _resolve(str(value[SAME]), requests)
        except (LookupError, ValueError, TypeError):
            raise _bad(path, number, f"points at {value[SAME]!r}, which no line before it holds") from None
    return {name: written_out(part, requests, path, number) for name, part in value.items()}


def _resolve(pointer: str, requests: Mapping[str, Any]) -> Any:
    call_id, *steps = pointer.split("/")
    found = requests[call_id]
    for step in steps:
        found = found[int(step)] if isinstance(found, list) else found[_unescaped(step)]
    return found


def _digest(value: Any) -> bytes | None:
    """None for what is too small to be worth a pointer."""
    if isinstance(value, str):
        if len(value) < SMALLEST_SHARED:
            return None
        return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if not isinstance(value, dict | list):
        return None
    text = json.dumps(value)
    if SAME in text:
        raise _PointerLikeError
    if len(text) < SMALLEST_SHARED:
        return None
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"json").digest()


def _bad(path: Path, number: int, problem: str) -> InputError:
    return InputError(
        f"line {number} {problem}", file=path, remedy="Restore the file; lines may be edited, not moved"
    )


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
