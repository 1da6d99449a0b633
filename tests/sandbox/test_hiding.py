"""What is hidden stays hidden below any mount; what was mounted on purpose stays visible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clawbench.sandbox import Mount
from clawbench.sandbox.hiding import covered

pytestmark = pytest.mark.anyio


def test_only_what_lies_below_a_mount_is_covered(tmp_path: Path) -> None:
    mount = Mount(tmp_path / "src", "/opt/src")
    hide = [tmp_path / "src/project", tmp_path / "src/project/runs", tmp_path / "elsewhere"]
    assert covered(mount, hide) == [("/opt/src/project", tmp_path / "src/project")]
    assert covered(Mount(tmp_path / "src/project/runs/1/workspace", "/workspace"), hide) == []
    assert covered(Mount(tmp_path / "src/project", "/given"), [tmp_path / "src/project"]) == []


def test_links_do_not_get_around_it(tmp_path: Path) -> None:
    (tmp_path / "real/project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    through_link = Mount(tmp_path / "link", "/src")
    assert covered(through_link, [tmp_path / "real/project"]) == [("/src/project", tmp_path / "real/project")]
    assert covered(Mount(tmp_path / "real", "/src"), [tmp_path / "link/project"])


async def test_hidden_paths_are_empty_inside(run_inside: Any, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "project/tests").mkdir(parents=True)
    (tree / "project/tests/gold.patch").write_text("the answer")
    (tree / "key.txt").write_text("sk-planted")
    (tree / "open.txt").write_text("for all")
    (tree / "project/work").mkdir()
    (tree / "project/work/file").write_text("workspace")
    mounts = [Mount(tree, "/tree", writable=True), Mount(tree / "project/work", "/tree/project/work")]
    script = "cd /tree; find . | sort; cat key.txt open.txt; cat project/work/file; touch project/planted"
    _, output = await run_inside(
        "sh", "-c", script, mounts=mounts, hide=[tree / "project", tree / "key.txt", tree / "not-there"]
    )
    lines = output.splitlines()
    assert lines[:6] == [".", "./key.txt", "./open.txt", "./project", "./project/work", "./project/work/file"]
    assert "for allworkspace" in output
    assert "sk-planted" not in output
    assert "gold" not in output
    assert not (tree / "project/planted").exists()
