"""Packs that were proved to hold one base commit's past and nothing else, kept for the next workspace."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

MOST_BYTES = 20 * 1024**3
"""What all kept packs may take together; the one that was not used for the longest time goes first."""
_PROVED = "proved.json"
_CHUNK = 1 << 20


def bring_pack(cache: Path, base_commit: str, target: Path) -> int | None:
    """Copy a kept pack into `target`; returns its number of objects.

    Each byte is hashed as it is copied: a pack that is not the one that was proved is thrown away, and None
    is returned, as where there is none.
    """
    kept = _directory(cache, base_commit)
    try:
        proved = json.loads((kept / _PROVED).read_bytes())
        found = {name: _copy(kept / name, target / name) for name in proved["files"]}
    except (OSError, ValueError, KeyError):
        found, proved = {}, {}
    if not found or found != proved.get("files"):
        shutil.rmtree(kept, ignore_errors=True)
        for name in found:
            (target / name).unlink(missing_ok=True)
        return None
    os.utime(kept / _PROVED)
    return int(proved["objects"])


def keep_pack(cache: Path, base_commit: str, pack_directory: Path, objects: int) -> None:
    """Keep the pack of a workspace whose proof has just held, and that nobody else has seen yet."""
    kept = _directory(cache, base_commit)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".keeping-") as scratch:
        new = Path(scratch) / "pack"
        new.mkdir()
        files = {file.name: _copy(file, new / file.name) for file in sorted(pack_directory.iterdir())}
        (new / _PROVED).write_text(json.dumps({"objects": objects, "files": files}), encoding="utf-8")
        if not kept.exists():
            new.rename(kept)
    _make_room(kept.parent)


def _make_room(directory: Path) -> None:
    packs = sorted((mark.stat().st_mtime, mark.parent) for mark in directory.glob(f"*/{_PROVED}"))
    sizes = [sum(file.stat().st_size for file in pack.iterdir()) for _, pack in packs]
    while len(sizes) > 1 and sum(sizes) > MOST_BYTES:
        sizes.pop(0)
        shutil.rmtree(packs.pop(0)[1], ignore_errors=True)


def _directory(cache: Path, base_commit: str) -> Path:
    return cache / "packs" / base_commit


def _copy(source: Path, target: Path) -> str:
    """Copy a file; returns the sha256 of what was written."""
    digest = hashlib.sha256()
    with source.open("rb") as reading, target.open("xb") as writing:
        while chunk := reading.read(_CHUNK):
            digest.update(chunk)
            writing.write(chunk)
    target.chmod(0o444)
    return digest.hexdigest()
