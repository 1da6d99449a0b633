"""Rows of SWE-bench-shaped datasets: validated one by one, and made into coding tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from clawbench.errors import InputError
from clawbench.extras import extra_line
from clawbench.tasks.load import first_problem
from clawbench.tasks.plain import check_plain
from clawbench.tasks.predictions import Entry, read_entries

PARQUET = ".parquet"
_REMEDY = (
    "a row has `instance_id`, `repo`, `base_commit`, `problem_statement`, `test_patch`, `FAIL_TO_PASS` and "
    "`PASS_TO_PASS`"
)


def _listed(value: Any) -> Any:
    """A list, also where it was written as a JSON string."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("should be a list or a JSON string of one") from None
    return value.tolist() if hasattr(value, "tolist") else value


Tests = Annotated[list[str], BeforeValidator(_listed)]


class Row(BaseModel):
    """One instance, in SWE-bench's own field names. Unknown fields are kept."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    instance_id: str = Field(pattern=r"^[A-Za-z0-9._+-]+$")
    repo: str = Field(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")
    base_commit: str = Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")
    problem_statement: str = Field(min_length=1)
    test_patch: str
    patch: str = ""
    fail_to_pass: Tests = Field(alias="FAIL_TO_PASS", min_length=1)
    pass_to_pass: Tests = Field(alias="PASS_TO_PASS")
    version: str | None = None
    created_at: str | None = None
    language: str | None = None
    log_parser: str | None = None
    eval_script: str | None = None
    environment_yml: str | None = None
    image: str | None = None
    """The container image of the instance, for workspaces from images."""


def read_rows(file: Path) -> dict[str, Row]:
    """Every row of a JSONL, JSON or Parquet file, by instance id."""
    if not file.is_file():
        raise InputError("there is no such file", file=file, field="--dataset", remedy=FORMS)
    entries = read_parquet(file) if file.suffix == PARQUET else read_entries(file)
    rows: dict[str, Row] = {}
    for entry in entries:
        row = _row(file, entry)
        if row.instance_id in rows:
            raise InputError(
                f"line {entry.line}: {row.instance_id} is there twice",
                file=file,
                field="instance_id",
                remedy="Leave one row for each instance",
            )
        rows[row.instance_id] = row
    if not rows:
        raise InputError("holds no rows", file=file, field="--dataset", remedy=FORMS)
    return rows


FORMS = "Give a JSONL, JSON or Parquet file, or the name of a Hugging Face dataset (owner/name)"


def _row(file: Path, entry: Entry) -> Row:
    check_plain(entry.value, file, entry.line)
    try:
        return Row.model_validate(entry.value)
    except ValidationError as error:
        raise first_problem(error, file, _REMEDY, entry.line) from None


def read_parquet(file: Path) -> list[Entry]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "Parquet files need pyarrow",
            file=file,
            field="--dataset",
            remedy=f"Install it with `{extra_line('hf')}`, or give JSONL",
        ) from None
    try:
        values = parquet.read_table(file).to_pylist()
    except Exception as error:
        raise InputError(f"is not Parquet ({error})", file=file, field="--dataset", remedy=FORMS) from None
    return [Entry(_without_dates(value), number) for number, value in enumerate(values, 1)]


def _without_dates(value: dict[str, Any]) -> dict[str, Any]:
    return {key: entry.isoformat() if hasattr(entry, "isoformat") else entry for key, entry in value.items()}
