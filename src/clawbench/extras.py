"""Packages beside Clawbench, and the line that installs them into the environment it runs in."""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires


def install_line(*words: str) -> str:
    """uv is there with Clawbench; pip may not be."""
    return shlex.join([sys.executable, "-m", "uv", "pip", "install", *words])


def extra_line(extra: str) -> str:
    """For one of the extras of Clawbench's own package."""
    try:
        all_of_them = requires("clawbench") or []
    except PackageNotFoundError:
        all_of_them = []
    parts = (requirement.partition(";") for requirement in all_of_them)
    wanted = [name.strip() for name, _, marker in parts if marker.split("==")[-1].strip(" '\"") == extra]
    return install_line(*(wanted or [f"clawbench[{extra}]"]))
