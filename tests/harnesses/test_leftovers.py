"""What an agent lays out to have the host read, or copy into its record, more than its own files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clawbench.harnesses import get_harness, program
from clawbench.harnesses.claude_code import ClaudeCodeHarness
from clawbench.harnesses.leftovers import Leftovers
from clawbench.harnesses.program import ProgramAgent, ProgramHarness

from .stage import run_context

pytestmark = pytest.mark.anyio


def left(home: Path) -> Leftovers:
    return Leftovers(home, home / "stdout.txt", home / "stderr.txt", None)


async def saved(harness: ProgramHarness, home: Path, directory: Path) -> dict[str, bytes]:
    kept = directory / "kept"
    kept.mkdir()
    (directory / "run").mkdir()
    async with run_context(directory / "run", "coding", {}) as context:
        leftovers = left(home)
        for file in home.rglob("*.jsonl"):
            if file.is_file():
                file.write_bytes(file.read_bytes().replace(b"TOKEN", context.token.encode()))
        harness.save_transcripts(ProgramAgent(context, [], leftovers), kept)
    return {path.name: path.read_bytes() for path in kept.iterdir()}


async def test_no_directory_is_entered_through_a_link(tmp_path: Path) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    (outside / "secret.jsonl").write_text("secret")
    projects = home / ".claude" / "projects"
    (projects / "own").mkdir(parents=True)
    (projects / "own" / "a.jsonl").write_text("mine")
    (projects / "away").symlink_to(outside)
    (projects / "circle").symlink_to("circle")
    os.mkfifo(projects / "own" / "pipe.jsonl")
    found = await saved(ClaudeCodeHarness(), home, tmp_path)
    assert found == {"claude_projects_own_a.jsonl": b"mine"}


def test_no_result_is_read_through_a_link_to_its_directory(tmp_path: Path) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    home.mkdir()
    (outside / "result.json").write_text('{"completed": true, "api_calls": 3}')
    (home / ".hermes").symlink_to(outside)
    assert left(home).json(".hermes/result.json") == {}
    hermes = get_harness("hermes")
    assert isinstance(hermes, ProgramHarness)
    assert hermes.examine(left(home)).outcome is None


async def test_long_names_are_cut_and_the_token_is_taken_out(tmp_path: Path) -> None:
    project = tmp_path / "home" / ".claude" / "projects" / ("p" * 200)
    project.mkdir(parents=True)
    (project / ("a" * 200 + ".jsonl")).write_text('{"key": "TOKEN"}')
    ((name, data),) = (await saved(ClaudeCodeHarness(), tmp_path / "home", tmp_path)).items()
    assert name.endswith("a.jsonl")
    assert data.startswith(b'{"key": "***')
    assert b"cb-" not in data


async def test_transcripts_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "LARGEST", 1000)
    project = tmp_path / "home" / ".claude" / "projects" / "p"
    project.mkdir(parents=True)
    for number in range(300):
        (project / f"{number:03}.jsonl").write_bytes(b"x" * (600 if number < 2 else 1))
    found = await saved(ClaudeCodeHarness(), tmp_path / "home", tmp_path)
    assert len(found) == program.MOST_TRANSCRIPTS - 1
    assert "claude_projects_p_001.jsonl" not in found


@pytest.mark.parametrize("cost", ["1" + "0" * 400, "NaN", "-Infinity", "true", '"1"'])
def test_a_forged_cost_is_none(cost: str, tmp_path: Path) -> None:
    line = f'{{"type": "result", "subtype": "error_max_turns", "num_turns": 0, "total_cost_usd": {cost}}}'
    (tmp_path / "stdout.txt").write_text(line)
    evidence = ClaudeCodeHarness().examine(left(tmp_path))
    assert (evidence.cost_usd, evidence.turns) == (None, 0)
