"""Options that would do nothing for the tasks at hand: whoever gives one expects something of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawbench.errors import InputError
from clawbench.tasks import Task

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


def check_sandbox(name: str) -> None:
    if name not in ("bwrap", "none"):
        raise InputError(f"no sandbox called {name!r}", field="--sandbox", remedy="Use `bwrap` or `none`")
