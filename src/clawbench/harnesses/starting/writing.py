"""Filling in the files of the package."""

from __future__ import annotations

import re
from pathlib import Path

from clawbench.errors import InputError
from clawbench.harnesses.registry import harness_names

PACKAGE = Path(__file__).parent / "package"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "harness.py": "src/{module}/__init__.py",
    "agent.py": "src/{module}/agent.py",
    "test.py": "tests/test_{module}.py",
}


def write_package(name: str, directory: Path) -> list[Path]:
    """Write the package of harness `name` into a new or empty directory; the files written."""
    if _NAME.fullmatch(name) is None:
        raise InputError(
            f"{name!r} is no name",
            field="NAME",
            remedy="Write small letters, digits and single hyphens: my-agent",
        )
    if name in harness_names():
        raise InputError(f"there is a harness {name!r} already", field="NAME", remedy="Choose another name")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError("is there already", file=directory, remedy="Name a new or empty directory")
    words = {"name": name, "module": "clawbench_" + name.replace("-", "_"), "Class": _class_name(name)}
    try:
        return [
            _write(PACKAGE / source, directory / target.format(**words), words)
            for source, target in _FILES.items()
        ]
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", file=directory, remedy="Name another directory"
        ) from None


def _write(source: Path, target: Path, words: dict[str, str]) -> Path:
    text = source.with_name(f"{source.name}.txt").read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-")) + "Harness"
