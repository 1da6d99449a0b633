"""Which tasks of which suite a user means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clawbench.errors import InputError
from clawbench.tasks import Broken, CodingTask
from clawbench.tasks.predictions import Prediction
from clawbench.tasks.suites import Member, languages, matches, members, require_suite, suite_names

SUITE_HELP = "Only this suite (`clawbench tasks list` shows them)."
CASES_HELP = "Only ids that match this glob; several with commas between them."
LANGUAGE_HELP = "Only tasks in this programming language."


@dataclass(frozen=True)
class Selection:
    """A suite, or all, and what of it."""

    suite: str | None = None
    cases: str | None = None
    language: str | None = None

    def members(self) -> list[Member]:
        names = suite_names() if self.suite is None else [require_suite(self.suite)]
        found = [member for name in names for member in members(name, cases=self.cases)]
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

    def coding_tasks(self, ids: Sequence[str] | None = None) -> dict[str, CodingTask]:
        """The coding tasks meant, by id; with `ids` exactly those."""
        if ids is None and self.suite is None:
            raise InputError("is missing", field="--suite", remedy=f"Known: {', '.join(suite_names())}")
        found = {member.id: _task_of(member) for member in self.members() if ids is None or member.id in ids}
        chosen = {name: task for name, task in found.items() if task is not None}
        if unknown := [name for name in ids or () if name not in chosen]:
            raise InputError(
                f"no task known for {', '.join(unknown[:3])}" + (" and others" if len(unknown) > 3 else ""),
                field="instance_id",
                remedy="Give the dataset that has its row with --dataset",
            )
        if not chosen:
            raise InputError(
                f"no coding task matches in suite {self.suite!r}",
                field="--cases",
                remedy="`clawbench tasks list --suite …` shows the ids",
            )
        return chosen


def _task_of(member: Member) -> CodingTask | None:
    if isinstance(member.task, Broken):
        raise member.task.error
    return member.task if isinstance(member.task, CodingTask) else None
