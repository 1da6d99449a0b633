"""Options that would do nothing for the tasks at hand: whoever gives one expects something of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawbench.errors import InputError
from clawbench.tasks import Task, WebTask

LONGEST_MIN = 100_000
"""Minutes that a run may be given."""


def refuse_for_one_task(given: Mapping[str, object]) -> None:
    """Options of many runs, where one task is named."""
    for name, value in given.items():
        if value:
            raise InputError(
                "has no meaning for one task", field=name, remedy="Leave it out, or give --suite"
            )


def refuse_without_coding(tasks: Sequence[Task], given: Mapping[str, bool]) -> None:
    """Options of coding tasks, where there is none."""
    if any(task.kind == "coding" for task in tasks):
        return
    for name, is_given in given.items():
        if is_given:
            raise InputError("is for coding tasks", field=name, remedy="Leave it out for web tasks")


def refuse_without_dataset(mirrors: object, datasets: object) -> None:
    """Mirrors are for rows; a task that is no row says itself where its repository is."""
    if mirrors and not datasets:
        raise InputError(
            "is for the rows of a dataset", field="--mirror", remedy="Leave it out, or give --dataset"
        )


def refuse_with_swebench(given: Mapping[str, object]) -> None:
    """Options of our own evaluator, where SWE-bench's judges, in its containers."""
    for name, value in given.items():
        if value:
            raise InputError("has no meaning with --evaluator swebench", field=name, remedy="Leave it out")


def check_known(task: Task) -> None:
    """The bundled site or the test runner that a task names is there."""
    # Sites and runners take long to import, and most commands need neither.
    if isinstance(task, WebTask):
        from clawbench.sites import site_names

        if task.site is not None and task.site not in site_names():
            raise InputError(
                f"no bundled site is called {task.site!r}",
                file=task.directory / "task.json",
                field="site",
                remedy=f"Known: {', '.join(site_names())}",
            )
    else:
        from clawbench.scoring.kinds import kind_of

        kind_of(task)


def check_sandbox(name: str) -> None:
    if name not in ("bwrap", "none"):
        raise InputError(f"no sandbox called {name!r}", field="--sandbox", remedy="Use `bwrap` or `none`")
