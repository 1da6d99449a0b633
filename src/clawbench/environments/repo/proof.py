"""Proof that a workspace holds nothing but what the base commit reaches: object by object, file by file."""

from __future__ import annotations

import asyncio
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio

from clawbench.environments.repo.git import GitError, Repository

BRANCH = "main"
_EXPECTED = re.compile(
    r"HEAD|config|index|packed-refs|refs/heads/main|objects/pack/pack-[0-9a-f]+\.(pack|idx|rev)"
)
_SHOWN = 20


@dataclass(frozen=True)
class Proof:
    """What was counted, and everything found that does not come from the base commit."""

    base_commit: str
    objects: int
    """Objects in the store."""
    reachable: int
    """Objects that the base commit reaches."""
    leaks: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.leaks and self.objects == self.reachable > 0


async def prove(workspace: Path, base_commit: str, *, proved_objects: int | None = None) -> Proof:
    """Look at every object, ref and file of a workspace. Trusts nothing but the objects' own ids.

    `proved_objects`: the pack is, byte for byte, one of which this was proved before, with that many objects;
    then what remains to be looked at is everything around it, and that no ref leaves the past.
    """
    repository = Repository(workspace / ".git")
    leaks = await anyio.to_thread.run_sync(lambda: [*_strange_files(workspace), *_hidden_in_packs(workspace)])
    try:
        tracked = await repository.run("ls-tree", "-r", "-z", "--name-only", base_commit)
        if proved_objects is None:
            listed = (repository.run(*_EVERY_OBJECT), repository.run(*_EVERYTHING_FROM, base_commit))
            held, reachable = (set(names.split()) for names in await asyncio.gather(*listed))
            leaks += _named("object not reachable from the base commit", held - reachable)
            leaks += _named("object missing from the store", reachable - held)
            counted = (len(held), len(reachable))
        else:
            reachable = set((await repository.run("rev-list", base_commit)).split())
            counted = (proved_objects, proved_objects)
        leaks += await _strange_refs(repository, base_commit, reachable)
    except GitError as error:
        return Proof(base_commit, 0, 0, (*leaks, f"the store cannot be read: {error}"))
    leaks += await anyio.to_thread.run_sync(_untracked, workspace, frozenset(tracked.split(b"\0")))
    return Proof(base_commit, *counted, tuple(leaks))


_EVERY_OBJECT = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
_EVERYTHING_FROM = ("rev-list", "--objects", "--no-object-names")


def _named(what: str, objects: set[bytes]) -> list[str]:
    shown = [f"{what}: {name.decode()}" for name in sorted(objects)[:_SHOWN]]
    more = len(objects) - len(shown)
    return shown + ([f"{what}: {more} more"] if more else [])


async def _strange_refs(repository: Repository, base_commit: str, reachable: set[bytes]) -> list[str]:
    refs = (await repository.run("for-each-ref", "--format=%(objectname) %(refname)")).splitlines()
    leaks = [
        f"ref {name.decode(errors='replace')} points outside the base commit's history"
        for identity, name in (ref.split(b" ", 1) for ref in refs)
        if identity not in reachable
    ]
    head = await repository.line("rev-parse", "HEAD")
    return leaks if head == base_commit else [*leaks, f"HEAD is {head}"]


def _strange_files(workspace: Path) -> Iterator[str]:
    git_dir = workspace / ".git"
    if git_dir.is_symlink() or not git_dir.is_dir():
        yield ".git is not a directory of its own"
    for path in _files_below(git_dir):
        name = str(path.relative_to(git_dir))
        if path.is_symlink() or not path.is_file() or not _EXPECTED.fullmatch(name):
            yield f"unexpected file in the store: {name}"


def _hidden_in_packs(workspace: Path) -> Iterator[str]:
    """A pack without an index, or with one that lists fewer objects, hides objects from git's own listing."""
    directory = workspace / ".git" / "objects" / "pack"
    packs = sorted(directory.glob("*.pack"))
    if len(packs) != 1:
        yield f"{len(packs)} packs in the store, not one"
    for pack in packs:
        index = pack.with_suffix(".idx")
        if not index.is_file() or _listed(index) != _packed(pack):
            yield f"pack and index do not agree: {pack.name}"


def _packed(pack: Path) -> int:
    with pack.open("rb") as file:
        header = file.read(12)
    return int(struct.unpack(">I", header[8:12])[0]) if len(header) == 12 else -1


def _listed(index: Path) -> int:
    """The last entry of a version 2 index's fan-out table is its number of objects."""
    with index.open("rb") as file:
        file.seek(8 + 255 * 4)
        total = file.read(4)
    return int(struct.unpack(">I", total)[0]) if len(total) == 4 else -1


def _untracked(workspace: Path, tracked: frozenset[bytes]) -> list[str]:
    names = (os.fsencode(path.relative_to(workspace)) for path in _files_below(workspace, skip=".git"))
    return [f"file not from the base commit: {os.fsdecode(name)!r}" for name in names if name not in tracked]


def _files_below(directory: Path, skip: str | None = None) -> Iterator[Path]:
    for parent, directories, files in os.walk(directory):
        if skip is not None and Path(parent) == directory:
            directories[:] = [name for name in directories if name != skip]
        links = [name for name in directories if (Path(parent) / name).is_symlink()]
        yield from (Path(parent) / name for name in files + links)
