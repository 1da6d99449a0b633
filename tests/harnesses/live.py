"""Real runs of real harnesses with a scripted model: `python -m tests.harnesses.live NAME KIND DIR` makes one
that never ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from clawbench.harnesses import Harness, asks_model, get_harness, harness_names
from clawbench.harnesses.playwright_mcp import PLAYWRIGHT_MCP
from clawbench.harnesses.rehearsal import Rehearsed
from clawbench.harnesses.runtimes.inventory import parts_of
from clawbench.models import SCRIPTED, ApiType, Model
from clawbench.results import RunDirectory, RunRecord
from clawbench.runner import Host, Progress, RunSpec, open_host, run_task
from clawbench.runner.checking.policy import never_stop, rehearse
from clawbench.runner.checking.tasks import EDIT, PRESS, coding_task, web_task
from clawbench.runner.checking.watching import Watched

Watch = Callable[[Host, Progress, Watched], None]


def rehearsed(*kinds: str) -> list[tuple[str, str]]:
    """Every registered harness that asks a model, with each kind of task it does."""
    found = ((get_harness(name), kind) for name in harness_names() for kind in kinds)
    return [(one.name, kind) for one, kind in found if kind in one.kinds and asks_model(one)]


def with_playwright() -> list[str]:
    """Those that have their browser tools from Playwright's MCP server."""
    found = (get_harness(name) for name, _ in rehearsed("web"))
    return [one.name for one in found if PLAYWRIGHT_MCP in parts_of(one)]


@dataclass
class Made:
    """A run that is over."""

    directory: RunDirectory
    record: RunRecord
    left: list[str] = field(default_factory=list)
    """Processes of its sandboxes that still run."""


def work(harness: Rehearsed, kind: str) -> dict[str, Any]:
    return rehearse(harness.edits(EDIT) if kind == "coding" else harness.presses(PRESS))


def busy(harness: Rehearsed, kind: str, delay_s: float | None = None) -> dict[str, Any]:
    policy = never_stop(harness.keeps_busy(kind))
    if delay_s is not None:
        for rule in policy["rules"]:
            rule["fault"]["delay_s"] = delay_s
    return policy


async def perform(
    harness: Any, kind: str, policy: dict[str, Any], directory: Path, watch: Watch | None = None, **more: Any
) -> Made:
    """One run of the check's task of that kind; `more` goes into its RunSpec."""
    file = directory / "policy.yaml"
    file.write_text(yaml.safe_dump(policy, allow_unicode=True), encoding="utf-8")
    task = await coding_task(directory) if kind == "coding" else web_task(directory)
    api = getattr(harness, "apis", (ApiType.OPENAI_COMPLETIONS,))[0]
    model = Model(name="scripted-live", base_url=f"{SCRIPTED}{file}", api_type=api)
    watched = Watched(harness)
    spec = RunSpec(
        task=task, model=model, harness=cast(Harness, watched), output=directory / "runs", batch="b", **more
    )
    progress = Progress(harness.name)
    try:
        async with open_host() as host:
            if watch is not None:
                progress.changed = lambda: watch(host, progress, watched)
            made = await run_task(host, spec, progress)
        return Made(*made, watched.left_processes())
    finally:
        watched.forget()


def kill_program(watched: Watched) -> int:
    """SIGKILL to what runs directly below the sandbox's first process: the harness's own program."""
    pids = [int(line.split()[0]) for line in watched.left_processes()]
    (program,) = [
        pid for pid in pids if _number_inside(pid) == min(n for p in pids if (n := _number_inside(p)) > 1)
    ]
    os.kill(program, signal.SIGKILL)
    return program


def _number_inside(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^NSpid:.*\s(\d+)$", status, re.MULTILINE)
    assert found
    return int(found[1])


def main(name: str, kind: str, directory: str) -> None:
    harness = get_harness(name)
    assert isinstance(harness, Rehearsed)
    asyncio.run(perform(harness, kind, busy(harness, kind), Path(directory)))


if __name__ == "__main__":
    main(*sys.argv[1:])
