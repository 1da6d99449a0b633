"""Clawbench: how good, and how expensive, is this agent harness with this model, on real work?"""

from typing import Any


def __getattr__(name: str) -> Any:
    """`__version__`, found out when asked for: that takes longer than most of our processes' start."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("clawbench")
    except PackageNotFoundError:  # run from a tree that was never installed
        return "0+unknown"
