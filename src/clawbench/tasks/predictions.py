"""predictions.jsonl, in SWE-bench's shape: which patch somebody proposes for which task."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from clawbench.errors import InputError
from clawbench.given import parse_json, read_given
from clawbench.tasks.load import first_problem

_REMEDY = "a prediction has `instance_id`, `model_patch` and `model_name_or_path`"


def _text_or_none(value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise ValueError("should be a string or null")
    return value


class Prediction(BaseModel):
    """One patch for one task. Unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    instance_id: str = Field(min_length=1)
    model_patch: Annotated[Any, AfterValidator(_text_or_none)] = None
    """Bytes that are not UTF-8 are surrogate escapes, as Python's `json` writes and reads them."""
    model_name_or_path: str = "unknown"

    @property
    def patch(self) -> bytes:
        return (self.model_patch or "").encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Entry:
    """An object of a file, with the line it began in."""

    value: Any
    line: int


def read_entries(file: Path) -> list[Entry]:
    """The objects of a JSONL file, of a JSON list, or of a JSON object that maps ids to them."""
    text = read_given(file, "Give a JSON or JSONL file")
    if file.suffix == ".json":
        return _entries_of_json(file, text)
    return [_entry(file, line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _entries_of_json(file: Path, text: str) -> list[Entry]:
    value = parse_json(text, file)
    if isinstance(value, dict):
        named = ((key, entry) for key, entry in value.items())
        value = [{"instance_id": key, **entry} if isinstance(entry, dict) else entry for key, entry in named]
    if not isinstance(value, list):
        raise InputError("is neither a list nor an object", file=file, remedy="Write a list of objects")
    return [Entry(entry, number) for number, entry in enumerate(value, 1)]


def _entry(file: Path, line: str, number: int) -> Entry:
    return Entry(parse_json(line, file, number, "Write one JSON object per line"), number)


def read_predictions(file: Path) -> list[Prediction]:
    """Every prediction of the file; one task and model may occur once."""
    found: dict[tuple[str, str], Prediction] = {}
    for entry in read_entries(file):
        try:
            prediction = Prediction.model_validate(entry.value)
        except ValidationError as error:
            raise first_problem(error, file, _REMEDY, entry.line) from None
        key = (prediction.instance_id, prediction.model_name_or_path)
        if key in found:
            raise InputError(
                f"line {entry.line}: {key[0]} by {key[1]!r} is predicted twice",
                file=file,
                field="instance_id",
                remedy="Leave one line for each task and model",
            )
        found[key] = prediction
    if not found:
        raise InputError(
            "holds no predictions", file=file, field="PREDICTIONS", remedy=f"Give a file with some: {_REMEDY}"
        )
    return list(found.values())


def write_predictions(file: Path, predictions: Iterable[Prediction]) -> None:
    lines = (json.dumps(prediction.model_dump()) + "\n" for prediction in predictions)
    file.write_text("".join(lines), encoding="ascii")
