"""What the adapter reads out of ZeroClaw's traces; that it works is shown by `clawbench harness check`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from clawbench.harnesses.evidence import Outcome, finish_of
from clawbench.harnesses.leftovers import Leftovers
from clawbench.harnesses.zeroclaw import ZeroClawHarness, _toml
from clawbench.results import FinishReason, Usage
from clawbench.sandbox import Ended

STATE = ".zeroclaw/workspace/state"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / STATE).mkdir(parents=True)
    return tmp_path


def left(home: Path, events: list[str], *, exit_code: int = 0, said: str = "", errors: str = "") -> Leftovers:
    lines = (json.dumps({"event_type": event}) for event in events)
    (home / STATE / "runtime-trace.jsonl").write_text("\n".join(lines) + "\nnot json\n")
    (home / "out").write_text(said)
    (home / "err").write_text(errors)
    return Leftovers(home, home / "out", home / "err", Ended(exit_code))


@pytest.mark.parametrize(
    ("events", "exit_code", "errors", "finish"),
    [
        (["llm_request", "tool_call_result", "llm_response"], 0, "", FinishReason.STOP),
        (["llm_request", "llm_response"], 0, "", FinishReason.EMPTY),
        (["llm_request", "tool_loop_exhausted"], 0, "", FinishReason.TIMEOUT),
        (["llm_request"], 1, "Error: All providers/models failed", FinishReason.ERROR),
        (["llm_request"], 1, "Error: Agent loop aborted by loop detector: …", FinishReason.TIMEOUT),
        ([], 1, "Error: config.toml: expected a table", FinishReason.ERROR),
        ([], 0, "", FinishReason.ERROR),
    ],
)
def test_how_it_ended(
    home: Path, events: list[str], exit_code: int, errors: str, finish: FinishReason
) -> None:
    leftovers = left(home, events, exit_code=exit_code, errors=errors)
    evidence = ZeroClawHarness().examine(leftovers)
    assert finish_of(evidence, Ended(exit_code)).finish_reason is finish


def test_a_failing_model_is_told_from_other_errors(home: Path) -> None:
    harness = ZeroClawHarness()
    failing = left(home, ["llm_request"], exit_code=1, errors="Error: All providers/models failed")
    assert harness.examine(failing).outcome is Outcome.MODEL_ERROR
    other = left(home, ["llm_request"], exit_code=1, errors="Error: disk full")
    assert harness.examine(other).outcome is Outcome.ERROR


def test_its_usage_is_summed(home: Path) -> None:
    leftovers = left(home, ["llm_request"], said="Done.")
    usage = {"usage": {"input_tokens": 100, "output_tokens": 7, "cost_usd": 0.5}}
    (home / STATE / "costs.jsonl").write_text(f"{json.dumps(usage)}\n{json.dumps(usage)}\n[]\n")
    evidence = ZeroClawHarness().examine(leftovers)
    assert (evidence.usage, evidence.turns) == (Usage(input=200, output=14), 2)


def test_its_configuration_is_toml() -> None:
    config = {"model": 'a"b\\c\nü😀', "limit": 3, "agent": {"tools": ["x", "y"], "on": False, "rate": 1e6}}
    assert tomllib.loads(_toml(config)) == config
