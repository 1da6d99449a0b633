"""What a scripted model has to say so that a harness shows that it works: for `clawbench harness check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Line:
    """One answer of the model: a text, a call of one tool, or both."""

    text: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    after: str | None = None
    """A pattern that the last message must hold. Its named groups fill `${name}` (`${name:int}`) in the
    arguments, and `${…}` in the text."""
    shown: str | None = None
    """A pattern by which later requests show that it was said, of a harness that does not repeat its answers
    word for word."""


@dataclass(frozen=True)
class Edit:
    """A change of one file that the model is to make: in `path`, `old` becomes `new`, both a whole line."""

    path: str
    """Absolute, inside the sandbox."""
    old: str
    new: str

    @property
    def command(self) -> str:
        """The same by a shell."""
        return f"sed -i 's/^{self.old}$/{self.new}/' {self.path}"


@dataclass(frozen=True)
class Press:
    """A button of one page that the model is to press."""

    url: str
    label: str


@dataclass(frozen=True)
class Forbidden:
    """A tool that the policy takes away: the harness must refuse it and go on."""

    line: Line
    refusal: str
    """A pattern that the harness's answer to the call has."""


class Rehearsed:
    """What a harness that can be checked says beside the five methods; a subclass overrides what it does."""

    def edits(self, edit: Edit) -> Sequence[Line]:
        """Make the change, then end the work."""
        raise NotImplementedError

    def presses(self, press: Press) -> Sequence[Line]:
        """Open the page, press the button, then end the work."""
        raise NotImplementedError

    def forbidden(self, kind: str) -> Forbidden | None:
        """A call that this harness must refuse; None where every tool it could name is allowed."""
        return None

    def keeps_busy(self, kind: str) -> Line:
        """A harmless call, for a model that never stops."""
        raise NotImplementedError
