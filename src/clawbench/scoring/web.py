"""The score of a web run: was the final request intercepted, and is it the one that was asked for."""

from __future__ import annotations

from clawbench.results import Cause, Check, Intercepted, Interception, Score, StopReason, Verdict
from clawbench.scoring.expectations import check_expectations
from clawbench.tasks import WebTask

FAULT: dict[StopReason, Cause] = {
    StopReason.MODEL_UNREACHABLE: Cause.MODEL,
    StopReason.BROWSER_CRASHED: Cause.INFRASTRUCTURE,
    StopReason.ERROR: Cause.INFRASTRUCTURE,
    StopReason.CANCELLED: Cause.INFRASTRUCTURE,
}
"""Whose fault it is that nothing was intercepted, where the stop reason tells; else the agent's."""


def score_web(
    task: WebTask, interception: Interception, stop_reason: StopReason, cause_hint: Cause | None = None
) -> Score:
    """Pass: intercepted and every expectation holds. Without `expect` an interception stays unjudged.

    `cause_hint` is evidence from outside, such as a credit error seen by the gateway; it explains a run
    in which nothing was intercepted, never a wrong request.
    """
    if not isinstance(interception, Intercepted):
        return _not_intercepted(task, stop_reason, cause_hint)
    if not task.expect:
        return Score(
            verdict=Verdict.UNJUDGED,
            checks=[_intercepted(True)],
            explanation="The final request was intercepted; the task has no `expect` to judge it by.",
        )
    checks = check_expectations(task.expect, interception.request)
    failed = [check for check in checks if not check.ok]
    score = Score(verdict=Verdict.PASS, checks=[_intercepted(True), *checks])
    score.explanation = f"The final request was intercepted and meets all {len(checks)} expectations."
    if failed:
        score.verdict, score.cause = Verdict.FAIL, Cause.AGENT
        details = "; ".join(f"{check.name}: {check.detail}" for check in failed)
        score.explanation = f"{len(failed)} of {len(checks)} expectations do not hold: {details}"
    return score


def _not_intercepted(task: WebTask, stop_reason: StopReason, cause_hint: Cause | None) -> Score:
    if task.eval_schema.never_matches:
        return Score(
            verdict=Verdict.UNJUDGED,
            cause=cause_hint or FAULT.get(stop_reason, Cause.TASK),
            checks=[_intercepted(False)],
            explanation="The task's eval schema is a placeholder: no request can match it.",
        )
    cause = cause_hint or FAULT.get(stop_reason, Cause.AGENT)
    return Score(
        verdict=Verdict.FAIL,
        cause=cause,
        checks=[_intercepted(False)],
        explanation=f"The final request was never sent; the run ended with `{stop_reason.value}`.",
    )


def _intercepted(ok: bool) -> Check:
    return Check(name="intercepted", ok=ok, detail="" if ok else "no request matched the eval schema")
