"""The end of a run whose runner was killed: its record is brought to an end by somebody else.

Started by the guardian as `python -m clawbench.runner.last_words <run directory>`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from clawbench.gateway.cut_off import account_for_cut_off_calls
from clawbench.results import (
    Cause,
    Reserve,
    RunDirectory,
    RunRecord,
    Score,
    State,
    StopReason,
    Verdict,
    record_text,
    write_atomic,
)
from clawbench.runner.accounts import usage_report

KILLED = "Clawbench was killed before the run had come to its end"


def command(run: RunDirectory) -> list[str]:
    return [sys.executable, "-I", "-m", "clawbench.runner.last_words", str(run.path)]


def speak(run: RunDirectory) -> None:
    """Say what was used, and how it ended, where the run's own process did not live to say it.

    The state stays what it was: it tells how far the run came, and that it did not come to its end."""
    record = RunRecord.model_validate_json(run.record.read_bytes())
    if record.state is State.DONE:
        return
    measured = account_for_cut_off_calls(run, record.price, scripted=record.scripted)
    record.usage, record.cost_usd = usage_report(measured, None), measured.cost_usd
    record.stop_reason, record.stop_description = record.stop_reason or StopReason.ERROR, KILLED
    record.error = KILLED
    verdict = Verdict.UNJUDGED if record.kind == "web" else Verdict.ERROR
    record.settle(Score(verdict=verdict, cause=Cause.INFRASTRUCTURE, explanation=KILLED))
    Reserve(run.reserve).release()
    run.drop_unfinished()
    record.files = run.present()
    if record.kind == "web":
        record.actions, record.requests = _lines(run.actions), _lines(run.requests)
        record.screenshots = run.screenshot_count()
    write_atomic(run.record, record_text(record))


def _lines(path: Path) -> int | None:
    return path.read_bytes().count(b"\n") if path.exists() else None


if __name__ == "__main__":
    speak(RunDirectory(Path(sys.argv[1])))
