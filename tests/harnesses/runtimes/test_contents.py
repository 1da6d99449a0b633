"""The content hash sees every kind of change, and the list names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawbench.harnesses.runtimes.contents import differences, hash_of, list_contents, open_modes


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "part"
    (root / "bin").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "bin/program").write_text("#!/bin/sh\n")
    (root / "bin/program").chmod(0o755)
    (root / "bin/link").symlink_to("program")
    (root / "odd\nname").write_text("x")
    return root


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda root: (root / "bin/program").write_text("#!/bin/bash\n"), "bin/program was changed"),
        (lambda root: (root / "bin/program").chmod(0o644), "bin/program was changed"),
        (lambda root: (root / "bin/more").write_text(""), "bin/more was added"),
        (lambda root: (root / "odd\nname").unlink(), "odd\\nname is missing"),
        (lambda root: (root / "empty").rmdir(), "empty is missing"),
        (
            lambda root: [(root / "bin/link").unlink(), (root / "bin/link").symlink_to("other")],
            "bin/link was changed",
        ),
    ],
)
def test_a_change_is_named(tree: Path, change: Callable[[Path], object], told: str) -> None:
    before = list_contents(tree)
    change(tree)
    after = list_contents(tree)
    assert hash_of(before) != hash_of(after)
    assert told in differences(before, after)


def test_what_was_not_changed_has_the_same_hash_whatever_the_umask(tree: Path) -> None:
    open_modes(tree)
    before = hash_of(list_contents(tree))
    (tree / "odd\nname").chmod(0o600)
    (tree / "bin").chmod(0o700)
    (tree / "bin/program").chmod(0o744)
    assert hash_of(list_contents(tree)) != before
    open_modes(tree)
    assert hash_of(list_contents(tree)) == before
    assert (tree / "odd\nname").stat().st_mode & 0o777 == 0o644


def test_the_record_of_a_part_is_not_its_content(tree: Path) -> None:
    before = list_contents(tree)
    (tree / "part.json").write_text("{}")
    (tree / "contents.txt").write_text("")
    assert list_contents(tree) == before
    (tree / "bin/part.json").write_text("{}")
    assert list_contents(tree) != before
