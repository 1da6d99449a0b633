"""What is written while a run goes on: the types that recorder, viewer and exporters share."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from clawbench.results.reasons import StopReason


class ActionType(StrEnum):
    PAGE_LOAD = "pageLoad"
    CLICK = "click"
    KEYDOWN = "keydown"
    KEYUP = "keyup"
    INPUT = "input"
    SCROLL = "scroll"
    CHANGE = "change"
    SUBMIT = "submit"


class Target(BaseModel):
    """The element an action happened on."""

    model_config = ConfigDict(extra="allow")

    tagName: str
    id: str = ""
    className: str = ""
    textContent: str = ""
    xpath: str = ""


class Action(BaseModel):
    """One line of actions.jsonl: a DOM event."""

    model_config = ConfigDict(extra="allow")

    type: ActionType
    timestamp: int
    """Milliseconds since the epoch."""
    url: str
    target: Target | None = None
    x: float | None = None
    y: float | None = None
    key: str | None = None
    value: str | None = None
    title: str | None = None
    screenshot: str | None = None
    frame: str | None = None
    scrollX: float | None = None
    scrollY: float | None = None


class RequestEntry(BaseModel):
    """One line of requests.jsonl: an HTTP request of the browser, logged when it is sent."""

    model_config = ConfigDict(extra="allow")

    timestamp: float
    """Seconds since the epoch."""
    url: str
    method: str
    headers: dict[str, str]
    body: Any = None
    query_params: dict[str, Any]
    resource_type: str
    id: str | None = None
    frame: str | None = None
    body_incomplete: bool | None = None
    """True: a part of the body could not be read."""
    rewritten: bool | None = None
    """True: as it went on after another CDP client had changed its body."""

    # What became of it, added when the session ends in good order; absent where it is not known.
    status: int | None = None
    mime_type: str | None = None
    protocol: str | None = None
    served_from: (
        Literal["network", "memory_cache", "disk_cache", "prefetch_cache", "service_worker"] | None
    ) = None
    response_size: int | None = None
    sent_ms: float | None = None
    response_ms: float | None = None
    finished_ms: float | None = None
    failure: str | None = None
    blocked: bool | None = None


class InterceptedRequest(BaseModel):
    """The request that matched the eval schema and was blocked."""

    model_config = ConfigDict(extra="allow")

    url: str
    method: str
    params: dict[str, Any]
    body: Any = None
    headers: dict[str, str] = {}
    timestamp: float


class Intercepted(BaseModel):
    intercepted: Literal[True] = True
    request: InterceptedRequest


class NotIntercepted(BaseModel):
    intercepted: Literal[False] = False
    stop_reason: StopReason
    stop_description: str


Interception = Intercepted | NotIntercepted
