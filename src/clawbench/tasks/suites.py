"""Suites: directories of tasks in the package, and lists of instances whose rows come from elsewhere."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clawbench.errors import InputError
from clawbench.tasks.load import Broken, bundled_suites, load_suite
from clawbench.tasks.model import CodingTask, Task

LISTS = Path(__file__).parent / "lists"


@dataclass(frozen=True)
class Member:
    """A task of a suite, as far as the package knows it."""

    suite: str
    id: str
    language: str
    repo: str
    dataset: str | None = None
    """Where its row is published; None where the task itself is in the package."""
    task: Task | Broken | None = None


def suite_names() -> list[str]:
    return sorted({*bundled_suites(), *_lists()})


def require_suite(name: str) -> str:
    if name not in suite_names():
        raise InputError(
            f"no suite called {name!r}", field="--suite", remedy=f"Known: {', '.join(suite_names())}"
        )
    return name


def members(suite: str, *, cases: str | None = None, language: str | None = None) -> list[Member]:
    """The tasks of a suite, with ids that match the glob `cases` and in one language."""
    found = _listed(suite) if suite in _lists() else [_bundled(task) for task in load_suite(suite)]
    return [
        member
        for member in found
        if (cases is None or matches(member.id, cases))
        and (language is None or speaks(member.language, language))
    ]


def matches(task_id: str, cases: str) -> bool:
    """Whether an id is meant by a glob, or by one of several with commas between them."""
    return any(fnmatch.fnmatchcase(task_id, pattern.strip()) for pattern in cases.split(","))


_SHORT = {"js": "javascript", "ts": "typescript", "cpp": "c++", "golang": "go", "py": "python"}


def speaks(language: str, wanted: str) -> bool:
    """Whether one of the languages in `JS/TS` or `C/C++` is wanted; case and short names do not matter."""
    return bool(_languages_in(language) & _languages_in(wanted))


def _languages_in(name: str) -> set[str]:
    return {_SHORT.get(part.strip(), part.strip()) for part in name.lower().split("/")}


def languages(found: Iterable[Member]) -> list[str]:
    return sorted({member.language for member in found if member.language})


@cache
def _lists() -> dict[str, Path]:
    return {file.stem: file for file in LISTS.glob("*.json")}


def _listed(suite: str) -> list[Member]:
    value = json.loads(_lists()[suite].read_bytes())
    return [Member(suite, **entry) for entry in value["instances"]]


def _bundled(task: Task | Broken) -> Member:
    if isinstance(task, CodingTask):
        return Member(task.suite, task.id, task.language, task.repo, task=task)
    return Member(task.suite, task.id, "", "", task=task)
