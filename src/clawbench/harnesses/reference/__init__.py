"""The reference harness: our own small agent, useful with any model that speaks chat completions."""

from clawbench.harnesses.reference.adapter import ReferenceHarness

__all__ = ["ReferenceHarness"]
