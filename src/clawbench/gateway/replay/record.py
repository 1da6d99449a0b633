"""Reading the model calls of an earlier run; whatever is wrong with them is said with file and line."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from clawbench.errors import InputError
from clawbench.gateway.open_call import CutOffCall, cut_off_calls
from clawbench.gateway.recording import pieces, written
from clawbench.results import RunDirectory, read_llm_calls
from clawbench.results.llm_calls import written_out

KILLED = "the end of its gateway"
_REMEDY = "Restore the line, or remove it to replay without that call"


class _Line(BaseModel):
    """A line of llm-calls.jsonl, as far as a replay needs it."""

    id: str
    path: str
    query: str = ""
    request: dict[str, Any]
    status: int | None
    streamed: bool = False
    headers: list[tuple[str, str]] = []
    response: Any = None
    chunks: list[int] = []
    raw: str | None = None
    raw_base64: str | None = None
    error: str | None = None
    unreachable: bool = False
    aborted: bool = False
    aborted_by: str | None = None
    duration_s: float = 0.0
    cost_usd: float | None = None
    operation: str | None = None

    def body(self) -> bytes:
        if self.raw_base64 is not None:
            return base64.b64decode(self.raw_base64, validate=True)
        return written(self.response) if self.raw is None else self.raw.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class RecordedCall:
    """A question of the recorded run, and what was answered."""

    id: str
    path: str
    query: str
    request: dict[str, Any]
    status: int | None
    headers: tuple[tuple[str, str], ...]
    chunks: tuple[bytes, ...]
    failure: str | None = None
    """How the upstream failed, where it could not be reached or broke off."""
    cut_off_by: str | None = None
    """Who broke the call off before the answer had come to its end."""
    duration_s: float = 0.0
    cost_usd: float | None = None
    generates: bool = True
    """A model call, as against counting tokens."""


def read_record(run: RunDirectory) -> list[RecordedCall]:
    """All calls in the order in which they were made, those cut off by a kill included."""
    if not run.llm_calls.is_file():
        raise InputError(
            "is missing",
            file=run.llm_calls,
            remedy="Only a run with a record of its model calls can be replayed",
        )
    calls, requests = [], {}
    for number, line in enumerate(read_llm_calls(run.llm_calls), 1):
        if line.get("refused"):
            continue
        call = _call(run.llm_calls, number, line)
        if call.id in requests:
            raise _bad(run.llm_calls, number, f"{call.id} is there twice")
        calls.append(call)
        requests[call.id] = call.request
    for left in cut_off_calls(run.open_calls):
        if left.head.get("id") not in requests:
            calls.append(_cut_off(left, requests))
    return sorted(calls, key=lambda call: (len(call.id), call.id))


def _call(file: Path, number: int, line: dict[str, Any]) -> RecordedCall:
    try:
        parsed = _Line.model_validate(line)
        chunks = pieces(parsed.body(), parsed.chunks)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        problem = "is missing" if first["type"] == "missing" else f"is wrong ({first['msg']})"
        raise _bad(file, number, f"`{field}` {problem}") from None
    except binascii.Error:
        raise _bad(file, number, "`raw_base64` is not base64") from None
    except ValueError as error:
        raise InputError(
            f"line {number}: `chunks` {error}",
            file=file,
            remedy="To replay a response edited by hand, remove `chunks`, `raw` and `raw_base64` there",
        ) from None
    return RecordedCall(
        id=parsed.id,
        path=parsed.path,
        query=parsed.query,
        request=parsed.request,
        status=parsed.status,
        headers=_headers(parsed, sum(map(len, chunks))),
        chunks=tuple(chunks),
        failure=(parsed.error or "unknown") if parsed.unreachable or _unanswered(parsed) else None,
        cut_off_by=(parsed.aborted_by or "somebody") if parsed.aborted else None,
        duration_s=parsed.duration_s,
        cost_usd=parsed.cost_usd,
        generates=parsed.operation is None,
    )


def _unanswered(line: _Line) -> bool:
    return line.status is None and not line.aborted


def _headers(line: _Line, length: int) -> tuple[tuple[str, str], ...]:
    """As recorded; a length only where it is that of the body, or of a body that was broken off."""
    given = [(name, value) for name, value in line.headers]
    if not any(name.lower() == "content-type" for name, _ in given):
        given.append(("content-type", "text/event-stream" if line.streamed else "application/json"))
    broken = line.unreachable or line.aborted
    return tuple(
        (name, value)
        for name, value in given
        if name.lower() != "content-length" or broken or value == str(length)
    )


def _cut_off(left: CutOffCall, requests: dict[str, Any]) -> RecordedCall:
    head = {"status": None, **left.head, **left.answer, "aborted": True, "aborted_by": KILLED}
    try:
        parsed = _Line.model_validate(head)
    except ValidationError:
        raise InputError(
            "is not a model call", file=left.path, remedy="Remove the file; the other calls are kept"
        ) from None
    return RecordedCall(
        id=parsed.id,
        path=parsed.path,
        query=parsed.query,
        request=written_out(parsed.request, requests, left.path, 1),
        status=parsed.status,
        headers=_headers(parsed, len(left.body)),
        chunks=(left.body,) if left.body else (),
        cut_off_by=KILLED,
    )


def _bad(file: Path, number: int, problem: str) -> InputError:
    return InputError(f"line {number}: {problem}", file=file, remedy=_REMEDY)
