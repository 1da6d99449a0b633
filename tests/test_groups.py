from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

GROUPS = Path(__file__).with_name("groups.py")
spec = importlib.util.spec_from_file_location("groups", GROUPS)
assert spec
assert spec.loader
groups = importlib.util.module_from_spec(spec)
spec.loader.exec_module(groups)


def markers_of(*chosen: str) -> str | None:
    """What pytest is told to choose, with two marked groups declared."""
    command = groups.commands(chosen, ["chaos", "coverage"])[-1]
    return command[command.index("-m") + 1] if "-m" in command else None


def test_an_unknown_group_is_refused_with_the_list() -> None:
    done = subprocess.run([sys.executable, GROUPS, "nope"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "nope" in done.stderr
    assert "default, all" in done.stderr


def test_default_leaves_out_every_marked_group() -> None:
    assert markers_of("default") == "not (chaos or coverage)"
    assert groups.commands(["default"], ["chaos"])[: len(groups.CHECKS)] == list(groups.CHECKS)


def test_default_without_marked_groups_is_every_test() -> None:
    assert "-m" not in groups.commands(["default"], [])[-1]


def test_a_named_group_runs_alone_and_joins_default() -> None:
    assert markers_of("chaos") == "chaos"
    assert markers_of("chaos", "coverage") == "chaos or coverage"
    assert len(groups.commands(["chaos"], ["chaos"])) == 1
    assert markers_of("default", "chaos") == "not (coverage)"


def test_all_chooses_nothing_away() -> None:
    assert markers_of("all") is None
