"""What is shown of another root file system, and which trees are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.sandbox import Mount, Root, check_root, open_sandbox, system_name
from clawbench.sandbox.root_view import Link, Opened, tree_entries


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in (
        "usr/bin",
        "usr/lib",
        "etc/ssl",
        "proc/1",
        "sys",
        "dev",
        "opt/one",
        "opt/two",
        "var/lib",
    ):
        (root / name).mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    (root / "root").symlink_to("var/roothome")
    (root / "var/run").symlink_to("/run")
    (root / "etc/shadow").write_text("root:*:1\n")
    (root / "etc/passwd").write_text("root:x:0:0\n")
    return root


def test_directories_with_something_of_ours_are_opened_up(tree: Path) -> None:
    found = list(tree_entries(tree, ["/opt/one/deep/part", "/etc/passwd", "/root/.cache/runtimes/node"]))
    assert found == [
        Link("/bin", "usr/bin"),
        Opened("/etc"),
        Mount(tree / "etc/ssl", "/etc/ssl"),
        Opened("/opt"),
        Opened("/opt/one"),
        Mount(tree / "opt/two", "/opt/two"),
        Opened("/root"),
        Mount(tree / "usr", "/usr"),
        Opened("/var"),
        Mount(tree / "var/lib", "/var/lib"),
    ]


def test_what_must_stay_out_of_reach_makes_a_tree_unfit(tree: Path) -> None:
    assert check_root(tree, [tree.parent / "runs"]) == tree
    with pytest.raises(InputError, match="out of its reach"):
        check_root(tree, [tree / "opt/runs"])
    with pytest.raises(InputError, match="out of its reach"):
        check_root(Path("/"), [tree.parent / "runs"])


def test_a_directory_that_is_no_root_file_system_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=r"--rootfs.*mmdebstrap"):
            check_root(path, [])


def test_plain_processes_have_no_root_of_their_own(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--sandbox bwrap"):
        open_sandbox("none", home=tmp_path, root=Root(tree, Path("/nowhere/python3")))


def test_the_name_of_a_system(tree: Path) -> None:
    assert system_name(tree) == "one without a name"
    (tree / "usr/lib/os-release").write_text('ID=x\nPRETTY_NAME="Example Linux 7"\n')
    assert system_name(tree) == "Example Linux 7"
