"""Whole runs, from the command to its exit."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

TASK = "002-shopping-order-teahouse"
CLAWBENCH = Path(sys.executable).with_name("clawbench")


async def null_run(output: Path) -> float:
    """Seconds from the command to its exit, for a harness that does nothing."""
    began = time.time()
    await _run(output, "--harness", "null")
    return time.time() - began


async def from_match_to_exit(output: Path) -> float:
    """Seconds from the moment the final request was held to the exit of the command."""
    found = await _run(output, "--harness", "reference", "--model", "scripted:solve")
    exited = time.time()
    interception = json.loads((Path(found["directory"]) / "data" / "interception.json").read_text())
    return exited - float(interception["request"]["timestamp"])


async def _run(output: Path, *options: str) -> dict[str, str]:
    process = await asyncio.create_subprocess_exec(
        *(str(CLAWBENCH), "run", TASK, *options, "--output", str(output), "--json"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complaints = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"clawbench run ended with {process.returncode}: {complaints.decode()[-500:]}")
    answer: dict[str, str] = json.loads(said)
    return answer
