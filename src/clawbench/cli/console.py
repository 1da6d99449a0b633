"""Where output goes: results to stdout, everything else to stderr."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from rich.console import Console

out = Console()
err = Console(stderr=True)


def never_choke() -> None:
    """Show as an escape what stdout cannot encode, such as a file name that is not UTF-8; stderr does so."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def as_json_text(value: Any, indent: int | None = None) -> str:
    """As it reads best, where stdout can encode all of it."""
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    return json.dumps(value, ensure_ascii=plain, indent=indent)


def print_json(value: Any) -> None:
    """For programs: plain JSON on stdout, nothing else."""
    sys.stdout.write(as_json_text(value, indent=2) + "\n")
