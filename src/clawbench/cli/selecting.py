"""Which tasks of which suite a user means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clawbench.errors import InputError
from clawbench.places import cache_directory
from clawbench.tasks import Broken, CodingTask, Task
from clawbench.tasks.datasets import load_rows
from clawbench.tasks.mirrors import VARIABLE, find_mirror, mirror_directories
from clawbench.tasks.predictions import Prediction
from clawbench.tasks.recipes import guessed_language, task_of_row
from clawbench.tasks.rows import Row
from clawbench.tasks.suites import Member, languages, matches, members, require_suite, speaks, suite_names

SUITE_HELP = "Only this suite (`clawbench tasks list` shows them)."
CASES_HELP = "Only ids that match this glob; several with commas between them."
LANGUAGE_HELP = "Only tasks in this programming language."
DATASET_HELP = (
    "SWE-bench-shaped rows: a JSONL, JSON or Parquet file, a directory of them, or a Hugging Face dataset."
)
MIRROR_HELP = f"Directory with git mirrors of the rows' repositories (default: what {VARIABLE} says)."
OTHER_ROWS = "dataset"
"""The suite of rows that no list of ours names."""


@dataclass(frozen=True)
class Selection:
    """A suite, or all, and what of it."""

    suite: str | None = None
    cases: str | None = None
    language: str | None = None
    datasets: Sequence[str] = ()
    mirrors: Sequence[Path] = ()

    def members(self) -> list[Member]:
        names = suite_names() if self.suite is None else [require_suite(self.suite)]
        found = [member for name in names for member in members(name, cases=self.cases)]
        if not found:
            raise _nothing_matches("--cases")
        if self.language is None:
            return found
        chosen = [m for name in names for m in members(name, cases=self.cases, language=self.language)]
        if not chosen:
            raise InputError(
                f"no task in {self.language!r}",
                field="--language",
                remedy=f"There are: {', '.join(languages(found)) or 'none'}",
            )
        return chosen

    def filter(self, predictions: Sequence[Prediction]) -> list[Prediction]:
        if self.cases is None:
            return list(predictions)
        return [entry for entry in predictions if matches(entry.instance_id, self.cases)]

    def tasks(self) -> list[Task]:
        """Everything meant, web tasks included."""
        if self.datasets:
            return list(self.coding_tasks().values())
        chosen = self.members()
        if unknown := [member for member in chosen if member.task is None]:
            raise InputError(
                f"the rows of {self.suite} are not in the package ({unknown[0].id} and others)",
                field="--dataset",
                remedy=f"Give the dataset ({unknown[0].dataset}) or a file with its rows",
            )
        return [_sound(member.task) for member in chosen if member.task is not None]

    def coding_tasks(self, ids: Sequence[str] | None = None) -> dict[str, CodingTask]:
        """The coding tasks meant, by id; with `ids` exactly those."""
        if ids is None and self.suite is None and not self.datasets:
            raise InputError(
                "is missing", field="--suite", remedy=f"Known: {', '.join(suite_names())}; or give --dataset"
            )
        chosen = {
            name: task
            for name, task in (self._of_datasets(ids) if self.datasets else self._bundled()).items()
            if ids is None or name in ids
        }
        self.require_known(ids or (), chosen)
        return chosen

    def require_known(self, ids: Iterable[str], chosen: Collection[str]) -> None:
        """These ids are among what was chosen, and something was."""
        if unknown := [name for name in ids if name not in chosen]:
            raise InputError(
                f"no task known for {', '.join(unknown[:3])}" + (" and others" if len(unknown) > 3 else ""),
                field="instance_id",
                remedy="Give the dataset that has its row with --dataset",
            )
        if not chosen:
            raise InputError(
                f"no coding task matches in {self.suite or ', '.join(self.datasets)}",
                field="--cases",
                remedy="`clawbench tasks list --suite …` shows the ids; rows of listed ones need --dataset",
            )

    def _bundled(self) -> dict[str, CodingTask]:
        found = {member.id: _task_of(member) for member in self.members()}
        return {name: task for name, task in found.items() if task is not None}

    def rows(self) -> dict[str, Row]:
        """The rows of the datasets that are meant."""
        ids = None if self.suite is None else {member.id for member in members(require_suite(self.suite))}
        chosen = {
            name: row
            for name, row in load_rows(self.datasets, cache_directory()).items()
            if matches(name, self.cases or "*")
            and (ids is None or name in ids)
            and (self.language is None or speaks(self.language_of(row), self.language))
        }
        if not chosen:
            raise _nothing_matches("--cases" if self.cases else "--language" if self.language else "--suite")
        return chosen

    def language_of(self, row: Row) -> str:
        """As our lists have it, the row says, or its tests look."""
        listed = next((member for member in members("swe", cases=row.instance_id)), None)
        return listed.language if listed else row.language or guessed_language(row.test_patch)

    def _of_datasets(self, ids: Sequence[str] | None) -> dict[str, CodingTask]:
        """Tasks of the rows; a suite's list says which of them count, and knows their languages."""
        mirrors, kept = mirror_directories(self.mirrors), cache_directory() / "tasks"
        tasks = {}
        for name, row in self.rows().items():
            if ids is None or name in ids:
                mirror = find_mirror(row.repo, mirrors)
                suite, language = self.suite or OTHER_ROWS, self.language_of(row)
                tasks[name] = task_of_row(row, mirror, suite=suite, language=language, directory=kept)
        return tasks


def _nothing_matches(field: str) -> InputError:
    return InputError("no task matches", field=field, remedy="`clawbench tasks list` shows the ids")


def _task_of(member: Member) -> CodingTask | None:
    task = None if member.task is None else _sound(member.task)
    return task if isinstance(task, CodingTask) else None


def _sound(task: Task | Broken) -> Task:
    if isinstance(task, Broken):
        raise task.error
    return task
