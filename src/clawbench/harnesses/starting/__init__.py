"""`clawbench harness new`: a package to start from, which works as it is."""

from clawbench.harnesses.starting.writing import write_package

__all__ = ["write_package"]
