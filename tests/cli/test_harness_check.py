from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clawbench.cli.harness import app
from clawbench.harnesses import registry
from clawbench.harnesses.reference.adapter import ReferenceHarness
from clawbench.harnesses.rehearsal import Edit, Line
from tests.cli.command import clawbench


class Idle(ReferenceHarness):
    """Says that it is done without having done anything."""

    name = "idle"

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (Line(tool="finish", arguments={"summary": "It is done."}),)


def test_json_says_the_three_words_and_why() -> None:
    done = clawbench("harness", "check", "null", "random-click", "--kind", "coding", "--json")
    assert done.returncode == 0, done.stderr
    null, random_click = json.loads(done.stdout)
    assert (null["name"], null["coding"]) == ("null", "ok")
    assert null["version"]
    assert null["details"]["coding"]["work"] == {"status": "ok", "detail": "did nothing, and says so"}
    assert random_click["coding"] == "skipped"
    assert random_click["coding_reason"] == "random-click does no coding tasks"


def test_what_failed_is_said_and_ends_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("idle", f"{__name__}:Idle", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _self: Idle)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    done = CliRunner().invoke(app, ["check", "--all", "--kind", "coding", "--output", str(tmp_path / "kept")])
    assert done.exit_code == 1
    assert "idle, coding: failed: work: the line was not changed" in done.output
    assert len(list((tmp_path / "kept").rglob("run.json"))) == 2


def test_what_is_not_installed_is_skipped_with_what_to_do(tmp_path: Path) -> None:
    done = clawbench("harness", "check", "claude-code@0.0.1", "--json", CLAWBENCH_CACHE=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert (found["version"], found["coding"], found["web"]) == ("0.0.1", "skipped", "skipped")
    assert "clawbench harness install claude-code" in found["coding_reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name harnesses, or give --all"),
        (["null", "--all"], "name harnesses, or give --all"),
        (["nope"], "no harness is called 'nope'"),
        (["null", "--kind", "chess"], "no kind 'chess'"),
    ],
)
def test_what_cannot_be_checked_is_refused(arguments: list[str], words: str) -> None:
    done = clawbench("harness", "check", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
