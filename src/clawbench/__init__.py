"""Clawbench: how good, and how expensive, is this agent harness with this model, on real work?"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("clawbench")
except PackageNotFoundError:  # run from a tree that was never installed
    __version__ = "0+unknown"
