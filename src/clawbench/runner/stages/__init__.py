"""The two kinds of environment, brought into the same steps."""

from clawbench.runner.stages.coding import CodingStage
from clawbench.runner.stages.protocol import WORKSPACE, Stage
from clawbench.runner.stages.web import WebStage

__all__ = ["WORKSPACE", "CodingStage", "Stage", "WebStage"]
