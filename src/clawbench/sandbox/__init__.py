"""Sandboxes: where a harness, a browser or a test runs with nothing in reach but what it was given."""

from clawbench.sandbox.protocol import Command, Ended, Limits, Mount, Process, Sandbox

__all__ = ["Command", "Ended", "Limits", "Mount", "Process", "Sandbox"]
