"""From what a program left behind to how its run ended: never by exit code alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clawbench.harnesses.protocol import AgentResult
from clawbench.results import Claim, FinishReason, Usage
from clawbench.sandbox import Ended


class Outcome(StrEnum):
    """What the program itself says of its end."""

    STOP = "stop"
    TURN_LIMIT = "turn_limit"
    TIME_LIMIT = "time_limit"
    MODEL_ERROR = "model_error"
    ERROR = "error"


_FINISH = {
    Outcome.STOP: FinishReason.STOP,
    Outcome.TURN_LIMIT: FinishReason.TIMEOUT,
    Outcome.TIME_LIMIT: FinishReason.TIMEOUT,
    Outcome.MODEL_ERROR: FinishReason.ERROR,
    Outcome.ERROR: FinishReason.ERROR,
}


@dataclass(frozen=True)
class Evidence:
    """What can be told from transcript and output; all of it is the program's own word."""

    outcome: Outcome | None = None
    """None: it left no word of its end."""
    answer: str = ""
    tool_calls: int = 0
    turns: int | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    detail: str = ""
    failing_exit_is_normal: bool = False
    """The program also ends with another code than 0 after work well done."""

    def claim(self) -> Claim | None:
        if self.usage is None and self.turns is None:
            return None
        return Claim(usage=self.usage, cost_usd=self.cost_usd, turns=self.turns)


def finish_of(evidence: Evidence, ended: Ended) -> AgentResult:
    """How the agent ended: the program's own word only where the exit code agrees with it."""
    if ended.limit == "time":
        return AgentResult(FinishReason.TIMEOUT, ended.exit_code, "the sandbox's time limit")
    if ended.limit is not None:
        return AgentResult(FinishReason.ERROR, ended.exit_code, f"ended by the {ended.limit} limit")
    if evidence.outcome is None or ended.exit_code < 0:
        said = f": {evidence.detail}" if evidence.detail else ""
        return AgentResult(
            FinishReason.ERROR, ended.exit_code, f"the program ended with {ended.exit_code}{said}"
        )
    reason = _FINISH[evidence.outcome]
    if reason is FinishReason.STOP and ended.exit_code != 0 and not evidence.failing_exit_is_normal:
        return AgentResult(FinishReason.ERROR, ended.exit_code, f"the program ended with {ended.exit_code}")
    if reason is FinishReason.STOP and not evidence.tool_calls and not evidence.answer.strip():
        return AgentResult(
            FinishReason.EMPTY, ended.exit_code, "the model neither answered nor called a tool"
        )
    return AgentResult(reason, ended.exit_code, evidence.detail or evidence.outcome.value)
