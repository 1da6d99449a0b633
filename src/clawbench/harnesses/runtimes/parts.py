"""What a runtime is made of. A part is installed by itself and shared by every harness that names it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clawbench.errors import InputError


@dataclass(frozen=True)
class NodePart:
    """Node with its npm: the executable and the libraries it needs."""

    version: str
    name: str = "node"


@dataclass(frozen=True)
class NpmPart:
    """One npm package with everything it depends on."""

    name: str
    package: str
    version: str
    has_install_script: bool = False
    """The package does not run before its own install script has; nobody else's is run."""


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
    paths: tuple[str, ...] = ()
    """What of the tree is taken, as git's pathspecs; all of it where empty."""
    python: str = ">=3.11,<3.14"


@dataclass(frozen=True)
class InterpreterPart:
    """The Python under environments, with its libraries. Nobody names it: it comes with what needs it."""

    version: str
    name: str = "python"


Part = NodePart | NpmPart | PythonPart | CargoPart | SourcePart | InterpreterPart

NODE = NodePart("24.19.0")
"""The Node under all harnesses that need one."""


_VERSION = re.compile(r"\d+(\.\d+)*([-+.]?[0-9A-Za-z]+)*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def check_version(part: Part) -> None:
    """Only what names one thing for ever, and is fit to be a directory's name."""
    is_source = isinstance(part, SourcePart)
    if not (_COMMIT if is_source else _VERSION).fullmatch(part.version):
        what = "a whole commit (40 hexadecimal digits)" if is_source else "an exact version, such as 1.2.3"
        raise InputError(
            f"{part.version!r} is no version of {part.name}", field="NAME@VERSION", remedy=f"Give {what}"
        )
