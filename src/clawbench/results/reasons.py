"""The words for what happened in a run. Each is recorded on its own and never mixed with another."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where the run is."""

    PREPARING = "preparing"
    RUNNING = "running"
    STOPPING = "stopping"
    SCORING = "scoring"
    DONE = "done"


class StopReason(StrEnum):
    """What ended the agent's time."""

    INTERCEPTED = "intercepted"
    AGENT_EXITED = "agent_exited"
    IDLE = "idle"
    TIME_LIMIT = "time_limit"
    BUDGET = "budget"
    HUMAN_LEFT = "human_left"
    BROWSER_CRASHED = "browser_crashed"
    MODEL_UNREACHABLE = "model_unreachable"
    CANCELLED = "cancelled"
    ERROR = "error"


class FinishReason(StrEnum):
    """How the harness ended (coding)."""

    STOP = "stop"
    ERROR = "error"
    EMPTY = "empty"
    TIMEOUT = "timeout"


class Verdict(StrEnum):
    """The score: the first three for web tasks, the others for coding tasks."""

    PASS = "pass"
    FAIL = "fail"
    UNJUDGED = "unjudged"
    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    APPLY_FAILED = "apply_failed"
    ERROR = "error"
    TIMEOUT = "timeout"

    @property
    def passed(self) -> bool:
        return self in (Verdict.PASS, Verdict.RESOLVED)


class Cause(StrEnum):
    """Whose fault a verdict other than a pass is, from evidence."""

    AGENT = "agent"
    MODEL = "model"
    INFRASTRUCTURE = "infrastructure"
    TASK = "task"
    JUDGE = "judge"
    NONE = "none"


class Isolation(StrEnum):
    """How much of the agent's reach was cut off."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
