"""Changed files as git lists them between two trees: parsed entries, never text of a patch."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from clawbench.environments.repo.git import Repository

SUBMODULE = "160000"
SYMLINK = "120000"
EXECUTABLE = "100755"


@dataclass(frozen=True)
class Change:
    """One path that differs. An absent side has mode 000000."""

    path: str
    """As the file system names it; bytes that are not UTF-8 are surrogate escapes."""
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    binary: bool = False

    @property
    def added(self) -> bool:
        return self.old_mode == "000000"

    @property
    def deleted(self) -> bool:
        return self.new_mode == "000000"

    @property
    def index_line(self) -> bytes:
        """The entry that `git update-index -z --index-info` reads; mode 0 removes the path."""
        return f"{self.new_mode} {self.new_id}\t".encode() + os.fsencode(self.path) + b"\0"

    @property
    def undone(self) -> Change:
        return Change(self.path, self.new_mode, self.old_mode, self.new_id, self.old_id, self.binary)


def parse_raw(output: bytes) -> list[Change]:
    """Read `git diff-tree --raw -z --no-renames`: header and path in turn, each ended by NUL."""
    parts = output.split(b"\0")[:-1]
    changes = []
    for header, path in zip(parts[::2], parts[1::2], strict=True):
        old_mode, new_mode, old_id, new_id, _status = header.decode().removeprefix(":").split(" ")
        changes.append(Change(os.fsdecode(path), old_mode, new_mode, old_id, new_id))
    return changes


def parse_binary(output: bytes) -> frozenset[str]:
    """The binary files in `git diff-tree --numstat -z --no-renames`: those counted as `-`."""
    rows = (row.split(b"\t", 2) for row in output.split(b"\0") if row)
    return frozenset(os.fsdecode(path) for added, _removed, path in rows if added == b"-")


async def changes_between(repository: Repository, old: str, new: str) -> list[Change]:
    binary = parse_binary(
        await repository.run("diff-tree", "-r", "-z", "--no-renames", "--numstat", old, new)
    )
    raw = await repository.run("diff-tree", "-r", "-z", "--no-renames", "--full-index", "--raw", old, new)
    return [
        Change(c.path, c.old_mode, c.new_mode, c.old_id, c.new_id, c.path in binary) for c in parse_raw(raw)
    ]


async def with_changes(repository: Repository, tree: str, changes: Iterable[Change]) -> str:
    """The tree that `tree` becomes when each change's new side is put in place."""
    await repository.run("read-tree", tree)
    removals_first = sorted(changes, key=lambda change: not change.deleted)
    lines = b"".join(change.index_line for change in removals_first)
    await repository.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=lines)
    return await repository.line("write-tree")
