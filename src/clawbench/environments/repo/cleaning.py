"""Which changed files are no part of a fix. Decided on parsed paths, part by part, never on substrings."""

from __future__ import annotations

from collections.abc import Container
from pathlib import PurePosixPath

from clawbench.environments.repo.changes import EXECUTABLE, Change

_LOCK_FILES = frozenset(
    [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "bun.lockb",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "Pipfile.lock",
        "Cargo.lock",
        "composer.lock",
        "Gemfile.lock",
        "mix.lock",
        "flake.lock",
    ]
)
_CACHES = frozenset(
    [
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".cache",
        ".gradle",
        ".nyc_output",
        ".ipynb_checkpoints",
        ".phpunit.cache",
        ".npm",
        "htmlcov",
    ]
)
_BUILD_OUTPUT = frozenset(["build", "dist", "target", "_build", "CMakeFiles", ".eggs", "node_modules"])
_ENVIRONMENTS = frozenset([".venv", "venv", ".virtualenv", "virtualenv", ".env.d", ".conda", "site-packages"])
_EDITOR_DIRECTORIES = frozenset([".idea", ".vscode", ".vs"])
_COMPILED = frozenset(
    [
        ".pyc",
        ".pyo",
        ".pyd",
        ".o",
        ".obj",
        ".a",
        ".so",
        ".dylib",
        ".dll",
        ".exe",
        ".class",
        ".jar",
        ".whl",
        ".rlib",
        ".gcda",
        ".gcno",
    ]
)
_DROPPINGS = frozenset([".swp", ".swo", ".swn", ".orig", ".rej", ".bak"])
_LEFTOVERS = frozenset([".DS_Store", "Thumbs.db", ".coverage", "coverage.xml", "nohup.out"])


def reason_to_drop(change: Change, tracked: Container[str], decided_by_tests: Container[str]) -> str | None:
    """Why this change stays out of the cleaned patch; None where it stays in.

    `tracked` has every directory that the base commit tracks something in: what lies there is source,
    whatever the directory is called.
    """
    if change.path in decided_by_tests:
        return "test file that scoring replaces"
    path = PurePosixPath(change.path)
    if path.name in _LOCK_FILES:
        return "lock file"
    if not change.added:
        return None
    return _directory_reason(path, tracked) or _file_reason(path, change)


def _directory_reason(path: PurePosixPath, tracked: Container[str]) -> str | None:
    for directory in path.parents:
        if str(directory) in tracked:
            continue
        if directory.name in _CACHES or directory.name.endswith(".egg-info"):
            return "cache"
        if directory.name in _BUILD_OUTPUT:
            return "build output"
        if directory.name in _ENVIRONMENTS:
            return "virtual environment"
        if directory.name in _EDITOR_DIRECTORIES:
            return "editor settings"
    return None


def _file_reason(path: PurePosixPath, change: Change) -> str | None:
    if path.suffix in _COMPILED:
        return "compiled file"
    if change.binary and change.new_mode == EXECUTABLE:
        return "compiled program"
    if path.suffix in _DROPPINGS or path.name.endswith("~"):
        return "editor or patch leftover"
    return "leftover of a tool" if path.name in _LEFTOVERS else None
