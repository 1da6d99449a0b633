"""What a runtime is made of. A part is installed by itself and shared by every harness that names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodePart:
    """Node itself, without npm: the executable and the libraries it needs."""

    version: str
    name: str = "node"


@dataclass(frozen=True)
class NpmPart:
    """One npm package with everything it depends on."""

    name: str
    package: str
    version: str


@dataclass(frozen=True)
class PythonPart:
    """Python packages in an environment of their own, with the interpreter that it runs on."""

    name: str
    package: str
    """The one whose version counts, as a requirement without a version: `hermes-agent[mcp]`."""
    version: str
    beside: tuple[str, ...] = ()
    """Further requirements, pinned."""
    python: str = ">=3.11,<3.14"


@dataclass(frozen=True)
class CargoPart:
    """A program built from a crate."""

    name: str
    crate: str
    version: str
    binary: str


@dataclass(frozen=True)
class SourcePart:
    """A program that is only published as a source tree, with the Python packages it needs."""

    name: str
    repository: str
    """`owner/name` on GitHub."""
    version: str
    """A commit."""
    requirements: tuple[str, ...] = ()
    python: str = ">=3.11,<3.14"


Part = NodePart | NpmPart | PythonPart | CargoPart | SourcePart

NODE = NodePart("24.21.0")
"""The Node under all harnesses that need one."""
