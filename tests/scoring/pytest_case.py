"""A small repository with pytest tests, and the pytest of the development environment to run them with."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from clawbench.environments.repo.setup import TestEnvironment
from clawbench.sandbox import Mount
from clawbench.sandbox.interpreter import base_interpreter, interpreter_tree
from clawbench.tasks import CodingTask
from clawbench.tasks.model import RepoSource
from tests.scoring.coding_case import Case

FILES = {
    "shapes/__init__.py": "from shapes.area import area, scaled\n",
    "shapes/area.py": "def area(a, b):\n    return a + b\n\n\ndef scaled(n):\n    return n * 2\n",
    "tests/__init__.py": "",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef sides():\n    return (2, 3)\n",
    "tests/test_area.py": "from shapes import scaled\n\n\ndef test_scaled():\n    assert scaled(2) == 4\n",
    "setup.cfg": "[tool:pytest]\naddopts = -q\n",
    "README.md": "Shapes\n",
}
TESTS = """\
import pytest

from shapes import area, scaled


def test_scaled():
    assert scaled(2) == 4


def test_area(sides):
    assert area(*sides) == 6


@pytest.mark.parametrize("sides", [(2, 5), (4, 1)], ids=["a b", "c"])
def test_areas(sides):
    assert area(*sides) == sides[0] * sides[1]


class TestMore:
    def test_zero(self):
        assert area(0, 3) == 0


@pytest.mark.xfail
def test_one_day():
    assert area(1, 1) == 17
"""
FIX = "def area(a, b):\n    return a * b\n\n\ndef scaled(n):\n    return n * 2\n"
FAILING = [f"tests/test_area.py::{name}" for name in ("test_area", "test_areas[a", "TestMore::test_zero")]
PASSING = [f"tests/test_area.py::{name}" for name in ("test_scaled", "test_one_day")]


def pytest_case(directory: Path, **options: object) -> Case:
    """Scores patches of that repository; `options` are the case's."""
    task = shapes_task(directory)
    return Case(directory, task, environment=development_environment(), **options)  # type: ignore[arg-type]


def shapes_task(directory: Path) -> CodingTask:
    work = directory / "shapes"
    _write(work, FILES)
    git = partial(subprocess.run, cwd=work, check=True, capture_output=True)
    identity = ["-c", "user.name=Maintainers", "-c", "user.email=maintainers@example.org"]
    git(["git", "init", "-q", "-b", "main"])
    git(["git", "add", "-A"])
    git(["git", *identity, "commit", "-q", "-m", "Begin"])
    base = git(["git", "rev-parse", "HEAD"]).stdout.decode().strip()
    test_patch = _diff(work, "tests/test_area.py", TESTS)
    patch = _diff(work, "shapes/area.py", FIX)
    task = CodingTask(
        repo="example/shapes",
        base_commit=base,
        problem_statement="The area is wrong.",
        language="Python",
        test_command="pytest",
        test_runner="pytest",
        fail_to_pass=FAILING,
        pass_to_pass=PASSING,
        repo_source=RepoSource(mirror=str(work)),
        patch=patch,
        test_patch=test_patch,
    )
    task.locate("own", "shapes", directory)
    return task


def development_environment() -> TestEnvironment:
    trees = [tree for tree in (interpreter_tree(base_interpreter()), Path(sys.prefix)) if tree is not None]
    return TestEnvironment(sys.executable, tuple(Mount(tree, str(tree)) for tree in trees))


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _diff(work: Path, name: str, text: str) -> str:
    (work / name).write_text(text)
    diff = subprocess.run(["git", "diff"], cwd=work, check=True, capture_output=True).stdout.decode()
    subprocess.run(["git", "checkout", "-q", name], cwd=work, check=True)
    return diff
