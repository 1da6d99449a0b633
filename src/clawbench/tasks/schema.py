"""JSON Schemas of what users write by hand and of what a run records, for editors and other tools."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from clawbench.tasks.model import CodingTask, Task, WebTask

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def task_schema(kind: str | None = None) -> dict[str, Any]:
    """The schema of web tasks, of coding tasks, or of both."""
    shape: Any = {"web": WebTask, "coding": CodingTask, None: Task}[kind]
    return {"$schema": DIALECT, **TypeAdapter(shape).json_schema(by_alias=True)}
