"""What the cache holds: installed parts, and the runtime of one harness made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clawbench.errors import MissingPartError
from clawbench.harnesses.runtimes.contents import MANIFEST
from clawbench.harnesses.runtimes.parts import Part
from clawbench.sandbox import Mount


@dataclass(frozen=True)
class InstalledPart:
    """A directory of the cache; sandboxes see it, read-only, at the very same path."""

    directory: Path
    version: str
    content_hash: str
    needs: Sequence[str] = ()
    """Directories beside it that it does not run without."""

    def path(self, inside: str) -> str:
        """A file of the part."""
        return str(self.directory / inside)


@dataclass(frozen=True)
class Runtime:
    """The installed parts of one harness, by name."""

    parts: Mapping[str, InstalledPart]
    below: Sequence[InstalledPart] = ()
    """What the parts themselves run on."""

    def __getitem__(self, name: str) -> InstalledPart:
        return self.parts[name]

    @property
    def node(self) -> str:
        return self.parts["node"].path("bin/node")

    def python(self, name: str) -> str:
        """The interpreter of a Python part's or source part's environment."""
        return self.parts[name].path("venv/bin/python")

    @property
    def mounts(self) -> list[Mount]:
        directories = {part.directory: None for part in (*self.parts.values(), *self.below)}
        return [Mount(directory, str(directory)) for directory in directories]


def part_directory(cache: Path, part: Part) -> Path:
    return cache / "runtimes" / f"{part.name}-{part.version}"


def find_runtime(harness: str, parts: Sequence[Part], cache: Path) -> Runtime:
    """The runtime in the cache; MissingPartError says how to get what is not there."""
    found = {part.name: read_part(part_directory(cache, part)) for part in parts}
    missing = [f"{part.name} {part.version}" for part in parts if found[part.name] is None]
    present = {name: part for name, part in found.items() if part is not None}
    needed = {name: read_part(cache / "runtimes" / name) for part in present.values() for name in part.needs}
    missing += [name for name, part in needed.items() if part is None]
    if missing:
        raise MissingPartError(
            ", ".join(missing),
            f"harness {harness!r} runs on it",
            f"Run `clawbench harness install {harness}`",
        )
    return Runtime(present, [part for part in needed.values() if part is not None])


def read_part(directory: Path) -> InstalledPart | None:
    """An installed part; its manifest is written last, so a directory without one is unfinished."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        needs = tuple(manifest.get("needs", ()))
        return InstalledPart(directory, manifest["version"], manifest["content_hash"], needs)
    except (OSError, ValueError, KeyError, TypeError):
        return None
