"""Files that a user gives: whatever is wrong with one becomes an InputError that names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from clawbench.errors import InputError

_SYNTAX = "Repair the file's syntax"


def read_given(file: Path, remedy: str) -> str:
    """Its text; the mark that some editors put before UTF-8 is no part of it."""
    try:
        if file.exists() and not file.is_file():
            kind = "a directory" if file.is_dir() else "no regular file"
            raise InputError(f"is {kind}", file=file, remedy=remedy)
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file, remedy=remedy) from None
    except UnicodeDecodeError as error:
        where = f"byte {error.start}"
        raise InputError(f"is not UTF-8 ({where})", file=file, remedy="Save it as UTF-8 text") from None


def read_json(file: Path, remedy: str) -> Any:
    return parse_json(read_given(file, remedy), file)


def parse_json(text: str, file: Path, line: int | None = None, remedy: str = _SYNTAX) -> Any:
    """`line` is that of a file with one value per line."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = "" if line is None else f"line {line} "
        raise InputError(f"{where}is not JSON ({_short(error)})", file=file, remedy=remedy) from None


def read_yaml(file: Path, remedy: str) -> Any:
    text = read_given(file, remedy)
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"is not YAML ({_short(error)})", file=file, remedy=_SYNTAX) from None


def _short(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return " ".join(str(error).split())
