"""What may be sent to the recorder API, each message checked before anything is written."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from clawbench.environments.browser.recorder.actions import TEXT_LENGTH, VALUE_LENGTH
from clawbench.results import ActionType

LONGEST_URL = 64 * 1024
LONGEST_NAME = 10_000
"""Characters of an id, a class list or an xpath."""
LARGEST_NUMBER = 10**9
"""Of coordinates, in pixels; far beyond any page."""
MOST_NAMES = 1000
"""Screenshots that one picture may stand for."""

NEEDED: dict[ActionType, tuple[str, ...]] = {
    ActionType.CLICK: ("x", "y"),
    ActionType.KEYDOWN: ("key",),
    ActionType.KEYUP: ("key",),
}
"""What an action of a type cannot be without."""


def _cut(length: int) -> AfterValidator:
    return AfterValidator(lambda text: text[:length])


def _base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not base64") from None
    return text


def _number(value: Any) -> Any:
    # A union of strict types would name each of them in its refusal, and not the field alone.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")
    return value


def _picture(value: Any) -> Any:
    return value.removeprefix("data:image/png;base64,") if isinstance(value, str) else value


Base64 = Annotated[str, AfterValidator(_base64)]
Text = Annotated[str, _cut(TEXT_LENGTH)]
Value = Annotated[str, _cut(VALUE_LENGTH)]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Url = Annotated[str, Field(max_length=LONGEST_URL)]
Milliseconds = Annotated[float, Field(ge=0, le=1e14, strict=True)]
Number = Annotated[int | float, BeforeValidator(_number), Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Element(Message):
    tagName: Name
    id: Name = ""
    className: Name = ""
    textContent: Text = ""
    xpath: Name = ""


class NewAction(Message):
    """A DOM event, in the words of actions.jsonl."""

    type: ActionType
    timestamp: Milliseconds
    url: Url
    target: Element
    x: Number | None = None
    y: Number | None = None
    key: Annotated[str, Field(max_length=100)] | None = None
    value: Value | None = None
    title: Value | None = None
    checked: bool | None = None
    scrollX: Number | None = None
    scrollY: Number | None = None
    trusted: bool = True
    frame: Annotated[str, Field(max_length=200)] | None = None
    secret: bool = False
    """Key and value are a password's: masked, unless the task says otherwise."""

    @model_validator(mode="after")
    def _is_whole(self) -> NewAction:
        for name in NEEDED.get(self.type, ()):
            if getattr(self, name) is None:
                raise ValueError(f"a {self.type} needs `{name}`")
        return self


class NewScreenshot(Message):
    png: Annotated[Base64, BeforeValidator(_picture)]
    """Base64, or a data URL as browsers make it."""
    timestamp: Milliseconds | None = None
    """When it was taken; now, where not given."""
    names: list[str] = Field(default=[], max_length=MOST_NAMES)
    """The screenshots that actions were promised and that this picture is."""


class RequestBody(Message):
    """A request's body as far as the browser shows it to an extension: a form, or its parts in order."""

    form: dict[str, list[str]] | None = None
    parts: list[Base64 | None] = []
    """Base64; null for a part that cannot be read, such as a file."""
    complete: bool = True


class SentRequest(Message):
    """A request of the browser, told when its fate is known: sent, or blocked."""

    id: Annotated[str, Field(max_length=200)]
    timestamp: Milliseconds
    url: Annotated[Url, Field(pattern=r"^(https?|wss?)://")]
    method: Annotated[str, Field(pattern=r"^[A-Za-z]{1,30}$")]
    headers: dict[str, str] = {}
    resource_type: Annotated[str, Field(pattern=r"^[A-Za-z]{1,40}$")]
    frame: Annotated[str, Field(max_length=200)] | None = None
    body: RequestBody | None = None
    blocked: bool = False


class Readiness(Message):
    """The extension's word on whether it can hold the final request."""

    blocking: bool
    detail: Annotated[str, Field(max_length=500)] = ""


class StopWish(Message):
    description: Annotated[str, Field(max_length=500)] = ""


class Status(BaseModel):
    """The answer to `GET /api/status`."""

    state: Literal["waiting", "recording", "stopped", "ended"]
    run_id: str | None = None
    task: str | None = None
    actions: int
    requests: int
    screenshots: int
    intercepted: bool
    blocking: dict[str, Any] | None = None
    """For the extension: which addresses and method to block."""
