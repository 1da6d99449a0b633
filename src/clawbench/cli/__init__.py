"""The command line: commands and progress display, no logic."""

from clawbench.cli.app import main

__all__ = ["main"]
