"""`clawbench harness install`, `verify`, `remove` and `list` as a user meets them, over own caches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawbench.harnesses import get_harness
from clawbench.harnesses.runtimes.contents import hash_of, list_contents
from clawbench.harnesses.runtimes.installed import part_directory
from clawbench.harnesses.runtimes.inventory import parts_of
from clawbench.harnesses.runtimes.manifest import Manifest, write_manifest
from tests.cli.command import clawbench


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """In which two harnesses that share parts look installed."""
    for name in ("claude-code", "codex"):
        for part in parts_of(get_harness(name)):
            directory = part_directory(tmp_path, part)
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "program").write_text(part.name)
            listing = list_contents(directory)
            facts = ("npm", part.name, True, [], [], hash_of(listing), 1, "2026-01-01T00:00:00Z", 1.0, "any")
            write_manifest(directory, Manifest(part.name, part.version, *facts), listing)
    return tmp_path


def names(cache: Path) -> set[str]:
    return {path.name.rpartition("-")[0] for path in (cache / "runtimes").iterdir() if path.name != ".locks"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["install", "no-such-claw"], "Known harnesses"),
        (["install", "codex@latest"], "exact version"),
        (["install", "null@2"], "no versions"),
        (["install"], "--all"),
        (["install", "codex", "--wheelhouse", "/nowhere/at/all"], "--wheelhouse"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, words: list[str], told: str) -> None:
    done = clawbench("harness", *words, CLAWBENCH_CACHE=str(tmp_path))
    assert done.returncode == 2
    assert told in done.stderr


def test_what_failed_does_not_count_as_installed(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = ("harness", "install", "claude-code", "--wheelhouse", str(tmp_path / "empty"))
    done = clawbench(*words, CLAWBENCH_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert "pip download" in done.stderr
    assert not [path for path in (tmp_path / "cache/runtimes").iterdir() if path.name != ".locks"]


def test_our_own_need_nothing(tmp_path: Path) -> None:
    done = clawbench("harness", "install", "null", CLAWBENCH_CACHE=str(tmp_path))
    assert (done.returncode, "nothing to install" in done.stdout) == (0, True)


def test_the_list_says_what_is_installed(cache: Path) -> None:
    listed = clawbench("harness", "list", "--json", CLAWBENCH_CACHE=str(cache))
    found = {row["name"]: row["installed"] for row in json.loads(listed.stdout)}
    assert found["codex"] == [get_harness("codex").version]
    assert found["nanobot"] == []
    assert found["null"] is None


def test_a_change_is_found_and_named(cache: Path) -> None:
    assert clawbench("harness", "verify", "--all", CLAWBENCH_CACHE=str(cache)).returncode == 0
    (part_directory(cache, parts_of(get_harness("codex"))[0]) / "program").write_text("something else")
    done = clawbench("harness", "verify", "codex", CLAWBENCH_CACHE=str(cache))
    assert done.returncode == 1
    assert "program was changed" in done.stdout
    assert "harness install codex" in done.stderr
    assert clawbench("harness", "verify", "nanobot", CLAWBENCH_CACHE=str(cache)).returncode == 1


def test_only_what_no_other_uses_is_removed(cache: Path) -> None:
    assert clawbench("harness", "remove", "codex", CLAWBENCH_CACHE=str(cache)).returncode == 0
    assert names(cache) == {"claude-code", "playwright-mcp", "node"}
    assert clawbench("harness", "remove", "claude-code", CLAWBENCH_CACHE=str(cache)).returncode == 0
    assert names(cache) == set()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["codex@0.1.0"], "codex 0.1.0 is not installed. Installed: codex@0.166.0"),
        (["claude-code", "codex@unknown"], "codex unknown is not installed. Installed: codex@0.166.0"),
        (["opencode"], "is not installed. Installed: no version of opencode"),
        (["null"], "null is part of Clawbench"),
    ],
)
def test_what_is_not_there_is_not_removed(cache: Path, asked: list[str], told: str) -> None:
    before = names(cache)
    done = clawbench("harness", "remove", *asked, CLAWBENCH_CACHE=str(cache))
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert names(cache) == before
