"""The programs of harnesses: pinned parts in a cache, mounted read-only into any sandbox."""

from clawbench.harnesses.runtimes.installed import InstalledPart, Runtime, find_runtime
from clawbench.harnesses.runtimes.parts import (
    NODE,
    CargoPart,
    NodePart,
    NpmPart,
    Part,
    PythonPart,
    SourcePart,
)

__all__ = [
    "NODE",
    "CargoPart",
    "InstalledPart",
    "NodePart",
    "NpmPart",
    "Part",
    "PythonPart",
    "Runtime",
    "SourcePart",
    "find_runtime",
]
