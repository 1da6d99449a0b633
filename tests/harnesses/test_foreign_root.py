"""Harnesses in a root file system without Python and Node: only the mounted runtime is there."""

from __future__ import annotations

import platform
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from clawbench.cli.rootfs import find_root
from clawbench.errors import MissingPartError
from clawbench.harnesses import get_harness, harness_names, installed_hash
from clawbench.runner.checking import Status, check_harness
from clawbench.sandbox import Root

pytestmark = pytest.mark.harnesses


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    maker = shutil.which("mmdebstrap")
    if maker is None:
        pytest.skip("mmdebstrap is not installed")
    tree = tmp_path_factory.mktemp("root") / "tree"
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    command = [maker, "--quiet", "--variant=minbase", suite, tree]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"mmdebstrap cannot make a tree here: {made.stderr.strip()[-300:]}")
    found = find_root(tree, tree.parent / "runs")
    assert found is not None
    return found


def test_the_tree_has_neither_python_nor_node(root: Root) -> None:
    names = {path.name for path in root.tree.rglob("*") if path.is_file() or path.is_symlink()}
    assert "sh" in names
    assert not [name for name in names if name.startswith(("python", "libpython", "node", "libnode"))]


@pytest.mark.parametrize("name", ["nanobot", "hermes", "openclaw", "pi", "claude-code", "reference"])
async def test_a_file_is_edited_in_it(name: str, root: Root, tmp_path: Path) -> None:
    if name not in harness_names():
        pytest.skip(f"there is no harness {name}")
    try:
        installed_hash(get_harness(name))
    except MissingPartError as error:
        pytest.skip(str(error))
    checked = await check_harness(partial(get_harness, name), tmp_path, kinds=("coding",), root=root)
    found = checked.kinds["coding"]
    assert found.status is Status.OK, found
    assert found.findings["work"].status is Status.OK
