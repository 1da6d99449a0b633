"""run.json: the record of one run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from clawbench.results.files import record_text, write_atomic
from clawbench.results.layout import RunDirectory
from clawbench.results.reasons import Cause, FinishReason, Isolation, State, StopReason, Verdict
from clawbench.results.replay import ReplayReport
from clawbench.results.reserve import Reserve
from clawbench.results.usage import Metered, Price, Usage


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Identified(BaseModel):
    """A part of a run, named and pinned by its content."""

    name: str
    version: str | None = None
    content_hash: str | None = None
    """sha256 of the canonical JSON (task, model settings) or of the installed files (harness)."""


class Check(BaseModel):
    """One assertion of the score: an `expect` line, or a test that decides."""

    name: str
    ok: bool
    detail: str = ""


class Score(BaseModel):
    """What a scorer found: the verdict, whose fault a non-pass is, and each assertion behind it."""

    verdict: Verdict
    cause: Cause = Cause.NONE
    checks: list[Check] = []
    explanation: str = ""


class Claim(BaseModel):
    """What the harness itself says it used, for comparison only."""

    usage: Usage | None = None
    cost_usd: float | None = None
    turns: int | None = None


class UsageReport(BaseModel):
    measured: Metered = Metered()
    claimed: Claim | None = None
    difference: dict[str, float] = {}
    """claimed minus measured, for each figure that the harness reports."""


class RunOptions(BaseModel):
    """What the user asked for beside task, harness and model; None: the default."""

    time_limit_s: float | None = None
    idle_s: float | None = None
    max_turns: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = None
    max_calls: int | None = None
    memory_mb: int | None = None
    patch_from: str = "git"
    future: str = "remove"
    browser_elsewhere: bool = False
    """Its address is not kept: it may hold a secret."""


class RunRecord(BaseModel):
    """Everything about one run that is not a stream. Written atomically at each change of state."""

    model_config = ConfigDict(validate_assignment=True)

    format: int = 1
    run_id: str
    kind: str
    """`web` or `coding`."""
    suite: str
    task: Identified
    harness: Identified
    model: Identified
    model_settings: dict[str, Any] = {}
    """Model settings without keys."""
    scripted: bool = False
    """True: no model took part; a policy file played its role."""
    code_version: str
    sandbox: str
    isolation: Isolation
    attempt: int = 1
    task_directory: str | None = None
    options: RunOptions | None = None
    """None in records from before options were kept."""
    seeds: dict[str, str] = {}
    """What random choices were made from: `identity`, the synthetic person's address and password."""
    replay: ReplayReport | None = None
    """None unless model answers came from the record of another run."""

    state: State = State.PREPARING
    phases: dict[str, str] = {}
    """When each phase began (ISO 8601, UTC), in order."""
    duration_s: float | None = None
    agent_duration_s: float | None = None

    stop_reason: StopReason | None = None
    stop_description: str = ""
    finish_reason: FinishReason | None = None
    exit_code: int | None = None
    verdict: Verdict | None = None
    cause: Cause | None = None
    score: Score | None = None
    error: str | None = None

    usage: UsageReport = UsageReport()
    cost_usd: float | None = None
    """The measured cost; None where the price is unknown."""
    price: Price | None = None
    """Snapshot of the price that was used."""

    video_started_at: float | None = None
    """Epoch seconds of the video's timestamp zero: the offset between the video and the other clocks."""
    actions: int | None = None
    requests: int | None = None
    screenshots: int | None = None
    patch_from: str | None = None
    """Coding: `git`, or `message` where the patch was taken from the agent's last message."""
    future: str | None = None
    """Coding: `remove`, or `keep` where the history after the base commit was left within reach."""
    leaks: list[str] = []
    """Signs that the answer was within the agent's reach; empty in a clean run."""
    notices: list[str] = []
    files: dict[str, int] = Field(default_factory=dict)
    """Name and size of every file but this one and the screenshots."""

    @property
    def ranked(self) -> bool:
        """Whether the run may enter a leaderboard: not where the answer was left lying about on purpose."""
        return self.future != "keep" and not self.scripted

    def settle(self, score: Score) -> None:
        """Take over what the scorer found."""
        self.score, self.verdict, self.cause = score, score.verdict, score.cause

    def enter(self, state: State, run: RunDirectory, *, at_last: bool = False) -> None:
        """Move to `state`, note when, and save; `at_last` also where the disk is full."""
        self.state = state
        self.phases = {**self.phases, state.value: now()}
        write = Reserve(run.reserve).write if at_last else write_atomic
        write(run.record, record_text(self))
