"""What may go wrong with a scripted model, on demand."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from clawbench.results import Usage

_ALONE = {"times", "call", "retry_after"}


class Fault(BaseModel):
    """One call that goes wrong, in one way or several."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: int | None = Field(default=None, ge=400, le=599)
    """Answer with this HTTP status and an error in the API's own shape."""
    retry_after: float | None = Field(default=None, ge=0)
    """Seconds in the Retry-After header."""
    delay_s: float | None = Field(default=None, gt=0)
    """Wait before the answer begins."""
    pace_s: float | None = Field(default=None, gt=0)
    """Wait before each event of a stream."""
    cut_after: int | None = Field(default=None, ge=0)
    """Break off after this many events of a stream; a whole answer is broken off in its middle."""
    malformed_call: bool = False
    """The arguments of tool calls are no JSON (Google: the answer ends with MALFORMED_FUNCTION_CALL)."""
    usage: Usage | None = None
    """Report these tokens instead of the true ones."""
    characters: int | None = Field(default=None, gt=0, le=50_000_000)
    """Say a text of this length."""
    times: int | None = Field(default=None, ge=1)
    """At most this often in a run; without it, always."""

    @model_validator(mode="after")
    def _check(self) -> Fault:
        if not self.model_fields_set - _ALONE:
            raise ValueError("does nothing: give one of its other fields")
        if self.retry_after is not None and self.status is None:
            raise ValueError("retry_after needs a status")
        return self


class CallFault(Fault):
    """A fault at the run's nth call."""

    call: int = Field(ge=1)


class Faults:
    """Which fault strikes next in one run."""

    def __init__(self, by_call: list[CallFault]) -> None:
        self._by_call = {fault.call: fault for fault in by_call}
        self._calls = 0
        self._struck: dict[int, int] = {}

    def strike(self, by_rule: Fault | None) -> Fault | None:
        """The fault of the call that begins now; one for its number goes before one of its rule."""
        self._calls += 1
        fault = self._by_call.get(self._calls) or by_rule
        if fault is None:
            return None
        before = self._struck.get(id(fault), 0)
        self._struck[id(fault)] = before + 1
        return fault if fault.times is None or before < fault.times else None
