"""One model call while it goes on, and the line it leaves in llm-calls.jsonl."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clawbench.gateway.conversation import Place
from clawbench.gateway.dialects import Operation
from clawbench.gateway.doors import Door
from clawbench.gateway.exchange import Answer, Prompt
from clawbench.gateway.open_call import OpenCall
from clawbench.gateway.recording import exact_fields, kept_headers, shown_body
from clawbench.gateway.upstream import Headers, Outgoing, Reply
from clawbench.results import SharedRequest, Usage


@dataclass
class Call:
    """What is known of a call so far."""

    id: str
    door: Door
    upstream_path: str
    query: str
    request: dict[str, Any]
    """As the harness sent it, keys masked."""
    set_fields: dict[str, Any]
    """What the gateway set or replaced in it."""
    prompt: Prompt
    place: Place | None
    """None where nothing is said: token counting."""
    shared: SharedRequest
    """The request as it is written down."""
    on_disk: OpenCall
    started: float = field(default_factory=time.time)
    began: float = field(default_factory=time.monotonic)
    first_byte: float | None = None
    ended: float | None = None
    status: int | None = None
    headers: Headers = ()
    streamed: bool = False
    chunks: list[bytes] = field(default_factory=list)
    error: str | None = None
    unreachable: bool = False
    """The upstream could not be reached, or broke off."""
    ends_run: str | None = None
    """Why there is no answer, where there will be none any more."""
    aborted: str | None = None
    """Who broke the call off before its end."""
    retry: bool = False
    """Repeats a call that failed."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What the upstream says about the call, for its line."""

    @property
    def generates(self) -> bool:
        """A model call, as against a question about one."""
        return self.door.operation is Operation.GENERATE

    def outgoing(self, headers: Headers) -> Outgoing:
        """What goes up: the harness's request with what the gateway sets."""
        return Outgoing(
            path=self.upstream_path,
            body={**self.request, **self.set_fields},
            headers=headers,
            query=self.query,
            version=self.door.version,
            operation=self.door.operation,
            id=self.id,
            asked=self.request,
        )

    def begin_answer(self, reply: Reply) -> None:
        """Note the head of the answer."""
        self.status, self.headers, self.notes = reply.status, reply.headers, reply.notes
        kind = next((value for name, value in reply.headers if name.lower() == "content-type"), "")
        self.streamed = kind.startswith("text/event-stream")
        self.on_disk.begin_answer(
            {
                "status": self.status,
                "streamed": self.streamed,
                "headers": kept_headers(self.headers),
                "notes": self.notes,
            }
        )

    def receive(self, chunk: bytes) -> None:
        if self.first_byte is None:
            self.first_byte = time.monotonic()
        self.chunks.append(chunk)
        self.on_disk.write(chunk)

    def end(self) -> Answer:
        """Note the end; what was answered, as far as it came."""
        self.ended = time.monotonic()
        raw = self.raw
        if self.status is None or not raw:
            return Answer()
        if self.status >= 400:
            self.error = self.error or self.door.dialect.read_error(raw, self.status)
            return Answer()
        if not self.generates:
            return Answer(complete=True)
        answer = self.door.dialect.read_answer(raw, streamed=self.streamed)
        if answer.complete:
            # Clients hang up as soon as they have read the end mark.
            self.aborted = None
        if self.aborted is None:
            self.error = self.error or answer.error or _early_end(answer)
        return answer

    @property
    def raw(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def usable(self) -> bool:
        return self.error is None and self.aborted is None

    @property
    def replayed(self) -> bool:
        """Answered from the record of another run."""
        return "replayed" in self.notes

    @property
    def recorded_cost_usd(self) -> float:
        return self.notes.get("recorded_cost_usd") or 0.0

    @property
    def duration_s(self) -> float:
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def ttft_s(self) -> float | None:
        return None if self.first_byte is None else self.first_byte - self.began

    def marks(self, answer: Answer, unpriced: Mapping[str, int], *, estimated: bool) -> dict[str, Any]:
        """What its line says only where there is something to say."""
        marks = {
            "usage_estimated": estimated or None,
            "billed_usd": answer.billed_usd,
            "unpriced": dict(unpriced) or None,
            "service_tier": answer.service_tier,
            "retry": self.retry or None,
            "operation": None if self.generates else self.door.operation.value,
        }
        return {name: value for name, value in marks.items() if value is not None}

    def line(self, usage: Usage | None, cost_usd: float | None, **more: Any) -> dict[str, Any]:
        shown = shown_body(self.raw, streamed=self.streamed)
        return {
            "id": self.id,
            "started": self.started,
            "duration_s": round(self.duration_s, 6),
            "ttft_s": None if self.ttft_s is None else round(self.ttft_s, 6),
            "path": self.door.path,
            **({"query": self.query} if self.query else {}),
            "request": self.shared.value,
            "set": self.set_fields,
            "status": self.status,
            "streamed": self.streamed,
            "headers": kept_headers(self.headers),
            "response": shown,
            **exact_fields(self.chunks, shown),
            "usage": None if usage is None else usage.model_dump(),
            "cost_usd": cost_usd,
            "error": self.error,
            "aborted": self.aborted is not None,
            "aborted_by": self.aborted,
            **({"unreachable": True} if self.unreachable else {}),
            **more,
            **self.notes,
        }


def _early_end(answer: Answer) -> str | None:
    whole = answer.complete or answer.finish_reason is not None
    return None if whole else "the answer ended before its end mark"
