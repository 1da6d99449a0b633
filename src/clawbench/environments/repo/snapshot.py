"""The work tree as one git tree, read through a store, an index and settings the agent never had."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio

from clawbench.environments.repo.changes import SUBMODULE
from clawbench.environments.repo.git import GitError, Repository

LARGEST_NEW_FILE = 50 * 1024 * 1024
_SHOWN = 10


@dataclass(frozen=True)
class Snapshot:
    """The tree, and what was seen but is no part of it."""

    tree: str
    notices: tuple[str, ...]


async def take_snapshot(store: Path, work_tree: Path, base_commit: str) -> Snapshot:
    """Write the work tree's files into `store`. Nothing of the work tree's own .git is read.

    Only plain files and links are handed to git, one by one: it never enters a nested repository, whose
    configuration could name programs to run.
    """
    notices = await anyio.to_thread.run_sync(lambda: list(_make_harmless(work_tree)))
    with tempfile.TemporaryDirectory(dir=store, prefix="index-") as scratch:
        repository = Repository(store, work_tree, Path(scratch) / "index")
        await repository.run("read-tree", base_commit)
        listed = await repository.run("ls-files", "-s", "-z")
        tracked, submodules = _split_listing(listed)
        present = await anyio.to_thread.run_sync(_present, work_tree, tracked)
        await _remove(repository, set(tracked) - set(present))
        new = (await repository.run("ls-files", "-o", "--exclude-standard", "-z")).split(b"\0")[:-1]
        fresh, more = await anyio.to_thread.run_sync(_acceptable, work_tree, new)
        more += await _add(repository, present + fresh)
        tree = await repository.line("write-tree")
        notices += more + _submodule_notices(work_tree, submodules) + await _ignored(repository)
    return Snapshot(tree, tuple(notices))


def _make_harmless(work_tree: Path) -> Iterator[str]:
    """Git would wait forever on a FIFO called .gitignore, and fail on what it may not read."""
    for parent, directories, files in os.walk(work_tree):
        for name in directories + files:
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                needed = 0o700 if stat.S_ISDIR(mode) else 0o400
                if mode & needed != needed:
                    path.chmod(stat.S_IMODE(mode) | needed)
            elif not stat.S_ISLNK(mode):
                path.unlink()
                yield f"special file removed: {_shown(os.fsencode(path.relative_to(work_tree)))}"


def _split_listing(listed: bytes) -> tuple[list[bytes], list[bytes]]:
    files: list[bytes] = []
    submodules: list[bytes] = []
    for entry in listed.split(b"\0")[:-1]:
        meta, path = entry.split(b"\t", 1)
        (submodules if meta.startswith(SUBMODULE.encode()) else files).append(path)
    return files, submodules


def _present(work_tree: Path, tracked: Iterable[bytes]) -> list[bytes]:
    root = os.fsencode(work_tree)
    real_directories: dict[bytes, bool] = {b"": True}

    def is_real(directory: bytes) -> bool:
        if directory not in real_directories:
            full = os.path.join(root, directory)
            inside = is_real(os.path.dirname(directory))
            real_directories[directory] = inside and not os.path.islink(full) and os.path.isdir(full)
        return real_directories[directory]

    return [path for path in tracked if is_real(os.path.dirname(path)) and _is_file(os.path.join(root, path))]


def _is_file(path: bytes) -> bool:
    return os.path.islink(path) or os.path.isfile(path)


async def _remove(repository: Repository, paths: Iterable[bytes]) -> None:
    await repository.run(
        "update-index", "--force-remove", "-z", "--stdin", stdin=b"".join(path + b"\0" for path in paths)
    )


async def _add(repository: Repository, paths: Iterable[bytes]) -> list[str]:
    """Add files as their attributes say; where these cannot be followed, byte for byte."""
    adding = ("update-index", "--add", "--replace", "-z", "--stdin")
    listed = b"".join(path + b"\0" for path in paths)
    try:
        await repository.run(*adding, stdin=listed)
    except GitError as error:
        overriding = repository.git_dir / "info" / "attributes"
        overriding.parent.mkdir(exist_ok=True)
        overriding.write_text("* -text -ident -filter !eol !working-tree-encoding\n")
        try:
            await repository.run(*adding, stdin=listed)
        finally:
            overriding.unlink()
        return [f"attributes that git cannot follow were left aside: {error.stderr[:200]}"]
    return []


def _acceptable(work_tree: Path, new: Iterable[bytes]) -> tuple[list[bytes], list[str]]:
    taken, notices = [], []
    for path in new:
        full = os.path.join(os.fsencode(work_tree), path)
        if path.endswith(b"/"):
            notices.append(f"repository inside the repository, not followed: {_shown(path)}")
        elif not os.path.islink(full) and os.path.getsize(full) > LARGEST_NEW_FILE:
            notices.append(f"new file over {LARGEST_NEW_FILE >> 20} MB, left out: {_shown(path)}")
        else:
            taken.append(path)
    return taken, notices


def _submodule_notices(work_tree: Path, submodules: Iterable[bytes]) -> list[str]:
    root = os.fsencode(work_tree)
    filled = (
        path for path in submodules if os.path.isdir(full := os.path.join(root, path)) and os.listdir(full)
    )
    return [f"submodule, its files are no part of the patch: {_shown(path)}" for path in filled]


async def _ignored(repository: Repository) -> list[str]:
    listing = ("ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z")
    paths = (await repository.run(*listing)).split(b"\0")[:-1]
    if not paths:
        return []
    shown = ", ".join(_shown(path) for path in paths[:_SHOWN])
    return [f"{len(paths)} paths that .gitignore hides are no part of the patch: {shown}"]


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")
