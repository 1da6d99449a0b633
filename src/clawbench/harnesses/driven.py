"""Harnesses written in Python: how they, or drivers of ours beside them, are started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawbench.harnesses.program import Launch, write_home
from clawbench.harnesses.protocol import RunContext

_DRIVERS = Path(__file__).parent / "drivers"


def python_program(python: str, *program: str) -> list[str]:
    """Options instead of variables: those would reach the agent's own Python, too. The runtime is read-only
    and has its bytecode."""
    return [python, "-B", "-P", "-s", "-X", "utf8", *program]


def drive(
    context: RunContext,
    python: str,
    driver: str,
    prompt: str,
    settings: Mapping[str, Any],
    env: Mapping[str, str] | None = None,
) -> Launch:
    """Put `drivers/<driver>.py`, its settings and the prompt into HOME, and start it with `python`."""
    program = write_home(context, "driver.py", (_DRIVERS / f"{driver}.py").read_text(encoding="utf-8"))
    told = {**settings, "prompt": write_home(context, "prompt.txt", prompt)}
    file = write_home(context, "settings.json", json.dumps(told, ensure_ascii=False))
    return Launch(python_program(python, program, file), env or {})
