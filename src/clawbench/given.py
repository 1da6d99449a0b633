"""Files that a user gives: whatever is wrong with one becomes an InputError that names it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from clawbench.errors import InputError

PERMISSIONS = "Check its permissions and those of the directories above it, or give another"
_SYNTAX = "Repair the file's syntax"


@contextmanager
def usable_path(path: Path | str, remedy: str, field: str | None = None) -> Iterator[None]:
    """For a block that only looks where a path leads: one too long, in a circle, or with a NUL is told."""
    try:
        yield
    except PermissionError as error:
        raise InputError(
            f"cannot be used ({error.strerror})", file=path, field=field, remedy=PERMISSIONS
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"is no usable path ({reason})", file=path, field=field, remedy=remedy) from None


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
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"is not YAML ({_short(error)})", file=file, remedy=_SYNTAX) from None


class _Loader(yaml.SafeLoader):
    """Plain values only; of one that cannot be made, and of a name that is there twice, the line is told."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            problem = f"no {node.tag.rpartition(':')[2]} can be made of it"
            raise ConstructorError(None, None, problem, node.start_mark) from None

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        # Not where values are made: by then `<<` has put other mappings' names among these.
        node = super().compose_mapping_node(anchor)
        seen: dict[tuple[str, str], yaml.ScalarNode] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and seen.setdefault((key.tag, key.value), key) is not key:
                first = seen[key.tag, key.value].start_mark.line + 1
                raise ComposerError(
                    None, None, f"{key.value!r} is there already, in line {first}", key.start_mark
                )
        return node


def _short(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return " ".join(str(error).split())
