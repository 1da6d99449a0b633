"""What of the cache belongs to which harness, as the adapters say: no second record can go stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from clawbench.harnesses.protocol import Harness
from clawbench.harnesses.registry import get_harness, harness_names
from clawbench.harnesses.runtimes.installed import part_directory
from clawbench.harnesses.runtimes.installing import only_one, wipe
from clawbench.harnesses.runtimes.manifest import Manifest, read_manifest
from clawbench.harnesses.runtimes.parts import Part
from clawbench.harnesses.runtimes.tooling import Say


def parts_of(harness: Harness) -> Sequence[Part]:
    """Nothing for a harness of our own."""
    declared = getattr(harness, "parts", None)
    return tuple(declared()) if declared is not None else ()


def installed_versions(harness: Harness, cache: Path) -> list[str]:
    """The versions that are there with all their parts."""
    parts = parts_of(harness)
    if not parts:
        return []
    made = (harness_at(harness.name, version) for version in _versions(parts[0], cache))
    return [str(one.version) for one in made if is_installed(one, cache)]


def is_installed(harness: Harness, cache: Path) -> bool:
    return all(read_manifest(directory) for directory in directories_of(harness, cache))


def directories_of(harness: Harness, cache: Path) -> list[Path]:
    """Of its parts and of what they need."""
    own = [part_directory(cache, part) for part in parts_of(harness)]
    below = [own[0].parent / name for path in own if (one := read_manifest(path)) for name in one.needs]
    return list(dict.fromkeys((*own, *below)))


def remove(harness: Harness, cache: Path, say: Say) -> tuple[list[Path], list[Path]]:
    """Delete the parts that no other installed harness uses: those removed, and those kept."""
    used = set(_used_by_others(harness, cache))
    present = [path for path in directories_of(harness, cache) if path.exists()]
    removed = [path for path in present if path not in used]
    for path in removed:
        with only_one(path, say):
            wipe(path)
    return removed, [path for path in present if path in used]


def harness_at(name: str, version: str) -> Harness:
    return get_harness(f"{name}@{version}")


def _used_by_others(harness: Harness, cache: Path) -> Iterator[Path]:
    for name in harness_names():
        other = get_harness(name)
        for version in installed_versions(other, cache):
            if (name, version) != (harness.name, harness.version):
                yield from directories_of(harness_at(name, version), cache)


def _versions(part: Part, cache: Path) -> list[str]:
    manifests = (read_manifest(path) for path in sorted((cache / "runtimes").glob(f"{part.name}-*")))
    return [manifest.version for manifest in manifests if manifest is not None and _is_of(manifest, part)]


def _is_of(manifest: Manifest, part: Part) -> bool:
    return manifest.name == part.name
