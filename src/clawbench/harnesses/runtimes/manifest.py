"""The record of an installed part: written last, so that a directory without one is unfinished."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from clawbench.harnesses.runtimes.contents import LISTING, MANIFEST, hash_of


@dataclass(frozen=True)
class Manifest:
    name: str
    version: str
    kind: str
    requested: str
    """The pin, in the words of its package index."""
    locked: bool
    """Whether the packages below it were those of the lock that comes with Clawbench."""
    packages: Sequence[str]
    """What was resolved: `name==version`."""
    needs: Sequence[str]
    """Directories of other parts that it does not run without."""
    content_hash: str
    size: int
    installed_at: str
    seconds: float
    platform: str


def write_manifest(directory: Path, manifest: Manifest, listing: Sequence[str]) -> None:
    text = "".join(f"{line}\n" for line in listing)
    (directory / LISTING).write_text(text, encoding="utf-8", errors="surrogateescape")
    unfinished = directory / f"{MANIFEST}.new"
    unfinished.write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
    os.replace(unfinished, directory / MANIFEST)


def read_manifest(directory: Path) -> Manifest | None:
    """None where the directory was not finished, or not made by `clawbench harness install`."""
    try:
        return Manifest(**json.loads((directory / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def read_listing(directory: Path, manifest: Manifest) -> list[str]:
    """As recorded; empty where it is not what the manifest's hash was made of."""
    try:
        text = (directory / LISTING).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    lines = text.removesuffix("\n").split("\n")
    return lines if hash_of(lines) == manifest.content_hash else []
