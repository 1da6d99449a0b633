"""The files a web task's agent, or a person in its place, is given."""

from __future__ import annotations

from pathlib import Path

from clawbench.identity import new_person, write_my_info
from clawbench.tasks import WebTask


def hand_out(task: WebTask, directory: Path) -> list[str]:
    """Write the synthetic person's files and the task's own; returns the names of the person's."""
    names = write_my_info(new_person(), directory)
    for extra in task.extra_info:
        source = task.directory / extra.path
        (directory / source.name).write_bytes(source.read_bytes())
    return names
