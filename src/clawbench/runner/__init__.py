"""Runs: one harness with one model at one task, from preparation to verdict."""

from clawbench.runner.host import Host, open_host
from clawbench.runner.progress import Progress
from clawbench.runner.replay import (
    Original,
    Replaying,
    changes_since,
    original_task,
    read_original,
    recorded_model,
)
from clawbench.runner.run import run_task
from clawbench.runner.spec import IDLE_S, Future, PatchFrom, RunSpec

__all__ = [
    "IDLE_S",
    "Future",
    "Host",
    "Original",
    "PatchFrom",
    "Progress",
    "Replaying",
    "RunSpec",
    "changes_since",
    "open_host",
    "original_task",
    "read_original",
    "recorded_model",
    "run_task",
]
