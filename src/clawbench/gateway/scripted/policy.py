"""The policy file of a scripted model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from clawbench.errors import InputError
from clawbench.gateway.scripted.faults import CallFault, Fault
from clawbench.gateway.scripted.template import TYPES, placeholders
from clawbench.given import read_yaml
from clawbench.results import Price

_REMEDY = "Correct the policy; docs/gateway.md describes each field"


def _regex(pattern: str) -> str:
    try:
        re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"is not a regular expression ({error})") from None
    return pattern


Pattern = Annotated[str, AfterValidator(_regex)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class When(_Part):
    """Conditions on the conversation; those that are given must all hold."""

    tools: list[str] = []
    """Names of tools that the request offers."""
    turn: int | None = Field(default=None, ge=0)
    """Number of assistant messages so far."""
    last: Pattern | None = None
    """Searched in the text of the last message."""
    conversation: Pattern | None = None
    """Searched in the text of all messages."""
    not_conversation: Pattern | None = None
    called: Pattern | None = None
    """Searched in the tool calls made so far, one `name {"argument": …}` per line."""
    not_called: Pattern | None = None

    def names(self) -> set[str]:
        """Names that the patterns may find."""
        patterns = (pattern for pattern in (self.called, self.conversation, self.last) if pattern)
        return {name for pattern in patterns for name in re.compile(pattern).groupindex}


class ToolCall(_Part):
    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = {}


class Rule(_Part):
    """When the conditions hold, say this and call that."""

    when: When = When()
    thinking: str | None = None
    text: str | None = None
    calls: list[ToolCall] = []
    fault: Fault | None = None
    """What goes wrong whenever this rule answers."""

    @model_validator(mode="after")
    def _check(self) -> Rule:
        always_fails = self.fault is not None and self.fault.times is None
        if self.text is None and not self.calls and not always_fails:
            raise ValueError("says nothing and calls nothing: give `text`, `calls` or both")
        known = self.when.names()
        for name, kind in self._placeholders():
            if name not in known:
                raise ValueError(f"${{{name}}} is no named group of its patterns; write $${{ for a plain ${{")
            if kind is not None and kind not in TYPES:
                raise ValueError(f"${{{name}:{kind}}} has an unknown type; known are {', '.join(TYPES)}")
        return self

    def _placeholders(self) -> Iterator[tuple[str, str | None]]:
        for said in (self.thinking, self.text, *(call.arguments for call in self.calls)):
            yield from placeholders(said)


class Policy(_Part):
    """What a scripted model says: the first rule whose conditions hold gives the answer."""

    name: str
    """The file's name without its ending, unless it says otherwise."""
    description: str = ""
    price: Price | None = None
    """Notional, per million tokens."""
    faults: list[CallFault] = []
    """What goes wrong at certain calls of a run."""
    rules: list[Rule] = Field(min_length=1)


def load_policy(path: Path) -> Policy:
    """Read and check a policy; InputError names the file, the field and what to do."""
    content = read_yaml(path, "Name a policy file: scripted:<path>")
    if not isinstance(content, dict):
        raise InputError("is not a mapping", file=path, remedy="Write `rules:` with a list of rules")
    try:
        return Policy.model_validate({"name": path.stem, **content})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(_problem(first), file=path, field=_field(first["loc"]), remedy=_REMEDY) from None


def _field(location: tuple[int | str, ...]) -> str | None:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).lstrip(".") or None


def _problem(error: Any) -> str:
    plain = {"missing": "is missing", "extra_forbidden": "is not a known field"}
    return plain.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
