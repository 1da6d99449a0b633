"""Reading tasks from disk. A broken task is reported with file, field and reason; the others still load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from clawbench.errors import InputError
from clawbench.given import read_json, usable_path
from clawbench.tasks.model import CodingTask, Task, WebTask
from clawbench.tasks.plain import check_plain

TASK_FILE = "task.json"
BUNDLED = Path(__file__).parent / "bundled"


@dataclass(frozen=True)
class Broken:
    """A task that could not be loaded."""

    suite: str
    id: str
    error: InputError


def load_task(directory: Path, suite: str | None = None) -> Task:
    """Load and validate the task in `directory` (or in the task.json given)."""
    with usable_path(directory, "Give a task's directory or its task.json"):
        file = directory if directory.is_file() else directory / TASK_FILE
        directory = file.parent.resolve()
    task = _validate(file, _read_object(file))
    task.locate(suite or directory.parent.name, directory.name, directory)
    _check_files(task, file)
    return task


def content_hash(task: Task) -> str:
    text = task.model_dump_json(by_alias=True)
    return hashlib.sha256(text.encode()).hexdigest()


def bundled_suites(root: Path = BUNDLED) -> list[str]:
    return sorted(p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith(("_", ".")))


def load_suite(suite: str, root: Path = BUNDLED) -> Iterator[Task | Broken]:
    for directory in sorted((root / suite).iterdir()):
        if not directory.is_dir() or directory.name.startswith(("_", ".")):
            continue
        try:
            yield load_task(directory, suite)
        except InputError as error:
            yield Broken(suite, directory.name, error)


def find_task(reference: str, root: Path = BUNDLED) -> Task:
    """The task a user names: a path to its directory or file, `suite/id`, or an id that occurs once."""
    with usable_path(reference, _KNOWN, "TASK"):
        if Path(reference).exists():
            matches = [Path(reference)]
        elif not reference or any(part in ("", ".", "..") for part in reference.split("/")):
            raise InputError(f"no task at {reference!r}", remedy="Give a task directory, `suite/id` or an id")
        else:
            suites = [root, *(root / suite for suite in bundled_suites(root))]
            matches = [suite / reference for suite in suites if (suite / reference / TASK_FILE).is_file()]
    if len(matches) == 1 or matches[:1] == [root / reference]:
        return load_task(matches[0])
    raise InputError(
        f"no task called {reference!r}" if not matches else f"{reference!r} is in several suites",
        remedy=_KNOWN,
    )


_KNOWN = "`clawbench tasks list` shows the tasks; give a path or `suite/id`"


def _read_object(file: Path) -> dict[str, Any]:
    value = read_json(file, f"A task is a directory with a {TASK_FILE}")
    if not isinstance(value, dict):
        raise InputError("is not a JSON object", file=file, remedy="Write one object with the task's fields")
    check_plain(value, file)
    return value


def _validate(file: Path, value: dict[str, Any]) -> Task:
    kind: type[WebTask] | type[CodingTask]
    if "eval_schema" in value or "instruction" in value:
        kind = WebTask
    elif "base_commit" in value or "problem_statement" in value:
        kind = CodingTask
    else:
        raise InputError(
            "is neither a web task (`instruction`, `eval_schema`) nor a coding task (`repo`, `base_commit`)",
            file=file,
            remedy="`clawbench tasks schema` prints the fields of both",
        )
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise first_problem(error, file, "`clawbench tasks schema` prints what is allowed") from None


_PLAIN = {"missing": "is missing", "model_type": "is not a JSON object"}


def first_problem(error: ValidationError, file: Path, remedy: str, line: int | None = None) -> InputError:
    """The first thing pydantic complains about, as a message with file, line, field and remedy."""
    problem = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    more = error.error_count() - 1
    message = _PLAIN.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    where = f"line {line}: " if line is not None else ""
    return InputError(
        where + message + (f" (and {more} more problems)" if more else ""),
        file=file,
        field=field or None,
        remedy=f"Correct the field; {remedy}",
    )


def _check_files(task: BaseModel, file: Path) -> None:
    if isinstance(task, WebTask):
        for index, extra in enumerate(task.extra_info):
            _check_inside(file, f"extra_info.{index}.path", extra.path)
    if isinstance(task, CodingTask) and task.repo_source.history is not None:
        _check_inside(file, "repo_source.history", task.repo_source.history)


def _check_inside(file: Path, field: str, relative: str) -> None:
    with usable_path(file, "Write a path in the task's directory", field):
        path = (file.parent / relative).resolve()
        is_there = path.exists()
    if not path.is_relative_to(file.parent.resolve()):
        raise InputError(
            f"path {relative!r} leaves the task's directory through a link",
            file=file,
            field=field,
            remedy="Put the file itself into the task's directory",
        )
    if not is_there:
        raise InputError(
            f"file {relative!r} does not exist", file=file, field=field, remedy="Add it or correct the path"
        )
