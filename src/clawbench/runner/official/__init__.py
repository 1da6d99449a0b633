"""SWE-bench's own evaluator: driven as a program, its logs and reports kept and read."""

from clawbench.runner.official.evaluator import OfficialEvaluator

__all__ = ["OfficialEvaluator"]
