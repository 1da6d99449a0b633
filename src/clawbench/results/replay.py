"""What run.json says of a run whose model answers came from the record of another."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel

from clawbench.results.reasons import StopReason, Verdict


class ReplayMode(StrEnum):
    OR_FAIL = "replay-or-fail"
    """The first request that is not on record ends the run."""
    GO_ON = "go-on"
    """A request that is not on record gets the answer to the one that is nearest to it."""
    THEN_LIVE = "replay-then-live"
    """From the first request on that is not on record, the model answers."""


class ReplayOutcome(StrEnum):
    SAME = "same"
    """Every recorded call was asked for again, and no other."""
    DIVERGED = "diverged"
    """The agent asked something else, or more."""
    INCOMPLETE = "incomplete"
    """The agent ended before it had asked for everything."""
    RECORD_ENDED = "record_ended"
    """The recorded run was itself broken off, and the replay came as far."""


class Divergence(BaseModel):
    """The first request that is not on record."""

    call: str
    recorded: str | None = None
    """The recorded call that is nearest to it."""
    part: str = ""
    """What differs first: `message 4 (toolResult)`."""
    explanation: str
    diff: str = ""
    """Of that part, from recorded to now, without what is not compared."""


class ReplayReport(BaseModel):
    of: str
    """The recorded run's id."""
    directory: str
    mode: ReplayMode
    outcome: ReplayOutcome | None = None
    recorded_calls: int = 0
    replayed_calls: int = 0
    live_calls: int = 0
    live_from: str | None = None
    """The first call that the model itself answered."""
    divergence: Divergence | None = None
    divergences: int = 0
    unasked: list[str] = []
    """Recorded calls that the agent did not ask for."""
    recorded_verdict: Verdict | None = None
    recorded_stop_reason: StopReason | None = None
    first_action_apart: int | None = None
    """Web: the first action that was another, scrolling left aside; None where all are the same."""
    same_patch: bool | None = None
    """Coding."""
    changes: list[str] = []
    """What is not as it was when the run was recorded: the task, the harness, Clawbench itself."""
