import json
from pathlib import Path

import jsonschema
import pytest

from clawbench.results import (
    Cause,
    Identified,
    Isolation,
    RunDirectory,
    RunRecord,
    Score,
    State,
    Verdict,
)


def record() -> RunRecord:
    return RunRecord(
        run_id="r1",
        kind="web",
        suite="demo",
        task=Identified(name="t"),
        harness=Identified(name="h"),
        model=Identified(name="m"),
        code_version="1",
        sandbox="bwrap",
        isolation=Isolation.FULL,
    )


def test_each_state_is_saved_with_its_time(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, batch="b", suite="s", task="t", harness="h", model="m")
    it = record()
    it.enter(State.PREPARING, run)
    it.enter(State.RUNNING, run)
    saved = json.loads(run.record.read_text())
    assert saved["state"] == "running"
    assert list(saved["phases"]) == ["preparing", "running"]


def test_verdict_and_cause_stand_at_the_top(tmp_path: Path) -> None:
    it = record()
    it.settle(Score(verdict=Verdict.FAIL, cause=Cause.AGENT))
    saved = it.model_dump(mode="json")
    assert (saved["verdict"], saved["cause"]) == ("fail", "agent")
    jsonschema.validate(saved, RunRecord.model_json_schema())


def test_a_word_that_is_not_a_state_is_refused() -> None:
    with pytest.raises(ValueError, match="state"):
        record().state = "finished"  # type: ignore[assignment]
