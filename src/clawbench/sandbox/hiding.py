"""Which paths inside a sandbox must be covered, so that a mount does not show what is to be hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from clawbench.sandbox.protocol import Mount


def covered(mount: Mount, hide: Sequence[Path]) -> list[tuple[str, Path]]:
    """(path inside, path on the host) of everything hidden that lies strictly below a mount.

    A mount of a hidden path itself, or of something below it, was asked for and stays visible.
    """
    source = mount.source.resolve()
    found = {}
    for path in _outermost(hidden.resolve() for hidden in hide):
        if path != source and path.is_relative_to(source):
            found[str(PurePosixPath(mount.target) / path.relative_to(source))] = path
    return list(found.items())


def _outermost(paths: Iterable[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda one: len(one.parts)):
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return kept
