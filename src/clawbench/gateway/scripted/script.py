"""One answer of a scripted model, before it takes the shape of an API. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from clawbench.gateway.scripted.engine import Move
from clawbench.results import Usage

PIECE = 24
"""Characters per delta."""


@dataclass(frozen=True)
class Script:
    """All that an answer is made from."""

    model: str
    mark: str
    """Distinguishes the answers of a run, and is the same when the run is repeated."""
    created: int
    move: Move
    usage: Usage
    request: Mapping[str, Any] = field(default_factory=dict)
    malformed: bool = False

    def calls(self, prefix: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Id, name and arguments of each tool call."""
        for number, (name, arguments) in enumerate(self.move.calls):
            yield f"{prefix}{self.mark}{number}", name, arguments

    def written(self, arguments: Mapping[str, Any]) -> str:
        """Arguments as a model writes them: JSON, unless it is to fail at that."""
        text = json.dumps(arguments)
        return text[:-1] if self.malformed else text


class Shape(Protocol):
    """An API's way to write an answer."""

    def whole(self, script: Script) -> dict[str, Any]: ...

    def events(self, script: Script) -> Iterator[bytes]: ...

    def counted(self, tokens: int) -> dict[str, Any]:
        """The answer to a question for the number of tokens."""
        ...


def pieces(text: str | None, size: int = PIECE) -> Iterator[str]:
    for start in range(0, len(text or ""), size):
        yield (text or "")[start : start + size]


def piece_size(text: str | None) -> int:
    """Long texts come in larger pieces: at most some thousand events."""
    return max(PIECE, len(text or "") // 4000)


def event(payload: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def named_event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\n".encode() + event({"type": kind, **fields})
