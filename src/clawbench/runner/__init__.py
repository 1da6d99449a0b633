"""Runs: one harness with one model at one task, from preparation to verdict."""

from clawbench.runner.host import Host, open_host
from clawbench.runner.progress import Progress
from clawbench.runner.run import run_task
from clawbench.runner.spec import IDLE_S, RunSpec

__all__ = ["IDLE_S", "Host", "Progress", "RunSpec", "open_host", "run_task"]
