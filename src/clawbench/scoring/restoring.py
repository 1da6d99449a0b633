"""Which of a patch's changes do not count because they change the tests instead of the code. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

_TEST_DIRECTORIES = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__"))
_RUNNER_FILES = frozenset(("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"))
_RUNNER_MODULES = frozenset(("conftest", "sitecustomize", "usercustomize"))
_RUNNER_ENDINGS = (".pth", ".egg-info", ".dist-info", ".egg-link")
"""Installed packages announce plug-ins in the last ones."""


def file_of_test(test_id: str, files: Collection[str]) -> str | None:
    """The file a test id lives in: `path::name` of pytest, or a dotted name of unittest."""
    path = test_id.split("::", 1)[0]
    if path in files:
        return path
    parts = test_id.split(".")
    candidates = ("/".join(parts[:length]) + ".py" for length in range(len(parts), 0, -1))
    return next((candidate for candidate in candidates if candidate in files), None)


def deciding_files(homes: Iterable[str | None], test_patch_files: Iterable[str]) -> frozenset[str]:
    """Every file that has a say: those of the test patch and those that the tests live in."""
    return frozenset(test_patch_files) | {home for home in homes if home is not None}


def reason_to_restore(path: str, deciding: Collection[str]) -> str | None:
    """Why this path is put back to what base commit and test patch say; None where the patch counts."""
    if path in deciding:
        return "decides the score"
    if any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in deciding):
        return "is in the way of a file that decides the score"
    if any(_configures_runner(part) for part in PurePosixPath(path).parts):
        return "configures the test runner"
    if path.endswith("_test.go"):
        return "is compiled together with the tests that decide the score"
    if any(str(parent) in _test_directories(deciding) for parent in PurePosixPath(path).parents):
        return "lies beside the tests that decide the score"
    return None


def _configures_runner(part: str) -> bool:
    """Whether a file or directory of that name has a say in how Python's test runners work."""
    return (
        part in _RUNNER_FILES or part.endswith(_RUNNER_ENDINGS) or part.partition(".")[0] in _RUNNER_MODULES
    )


def _test_directories(deciding: Collection[str]) -> frozenset[str]:
    """The nearest directory around each deciding file that is there for tests."""
    found = (
        next(
            (str(parent) for parent in PurePosixPath(file).parents if parent.name in _TEST_DIRECTORIES), None
        )
        for file in deciding
    )
    return frozenset(directory for directory in found if directory is not None)
