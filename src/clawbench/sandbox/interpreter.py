"""The bare Python that runs our launchers: the one below any virtual environment."""

from __future__ import annotations

import sys
from pathlib import Path


def base_interpreter() -> Path:
    named = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return named if named.exists() else Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def interpreter_tree(interpreter: Path) -> Path | None:
    """The directory that must be visible for `interpreter` to run; None where /usr holds it."""
    prefix = interpreter.parent.parent
    return None if prefix.is_relative_to("/usr") or prefix == Path("/") else prefix
