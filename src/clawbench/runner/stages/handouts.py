"""The files a web task's agent, or a person in its place, is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from clawbench.identity import new_person, write_my_info, write_resume
from clawbench.tasks import WebTask


@dataclass(frozen=True)
class Handouts:
    """Files in place; `finish` fills in the one that takes long and may run beside other preparations."""

    names: list[str]
    """Those of the synthetic person."""
    finish: Callable[[], None]


def hand_out(task: WebTask, directory: Path, seed: str) -> Handouts:
    """Write the synthetic person's files and the task's own; `seed` decides who the person is."""
    person = new_person(seed)
    names = write_my_info(person, directory)
    for extra in task.extra_info:
        source = task.directory / extra.path
        (directory / source.name).write_bytes(source.read_bytes())
    return Handouts(names, partial(write_resume, person, directory))
