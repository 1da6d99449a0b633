"""The agent's patch: what git says changed between the untouched checkout and the work tree now."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clawbench.environments.repo.changes import Change, changes_between, with_changes
from clawbench.environments.repo.cleaning import reason_to_drop
from clawbench.environments.repo.git import GitError, Repository
from clawbench.environments.repo.snapshot import take_snapshot
from clawbench.environments.repo.workspace import Workspace, apply_to_index
from clawbench.errors import EnvironmentFailedError

_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "-M",
    "--binary",
    "--full-index",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
)


@dataclass(frozen=True)
class Dropped:
    """A changed file that is not in the cleaned patch."""

    path: str
    why: str


@dataclass(frozen=True)
class Patch:
    """What changed, as bytes that `git apply` takes at the base commit."""

    raw: bytes
    cleaned: bytes
    dropped: tuple[Dropped, ...]
    notices: tuple[str, ...]


async def take_patch(workspace: Workspace) -> Patch:
    """Read the patch from the work tree. Call it when the harness and all its processes are gone."""
    snapshot = await take_snapshot(workspace.store, workspace.path, workspace.base_commit)
    with tempfile.TemporaryDirectory(dir=workspace.store, prefix="patch-") as scratch:
        repository = Repository(workspace.store, index=Path(scratch) / "index")
        base = await repository.line("rev-parse", f"{workspace.base_commit}^{{tree}}")
        changes = await changes_between(repository, workspace.baseline, snapshot.tree)
        kept, dropped = await _sort(repository, workspace, changes)
        raw = await _patch_to(repository, base, changes)
        cleaned = await _patch_to(repository, base, kept)
    return Patch(raw, cleaned, tuple(dropped), snapshot.notices)


async def _sort(
    repository: Repository, workspace: Workspace, changes: Sequence[Change]
) -> tuple[list[Change], list[Dropped]]:
    listed = await repository.run("ls-tree", "-r", "-z", "--name-only", workspace.base_commit)
    files = (PurePosixPath(os.fsdecode(path)) for path in listed.split(b"\0")[:-1])
    tracked = frozenset(str(directory) for file in files for directory in file.parents)
    kept, dropped = [], []
    for change in changes:
        why = reason_to_drop(change, tracked, workspace.test_files)
        if why is None:
            kept.append(change)
        else:
            shown = os.fsencode(change.path).decode("utf-8", "backslashreplace")
            dropped.append(Dropped(shown, why))
    return kept, dropped


async def _patch_to(repository: Repository, base: str, changes: Sequence[Change]) -> bytes:
    """The patch from `base` to `base` with the changes; tried before it is believed."""
    tree = await with_changes(repository, base, changes)
    patch = await repository.run(*_DIFF, base, tree)
    await repository.run("read-tree", base)
    try:
        if patch:
            await apply_to_index(repository, patch)
        applied = await repository.line("write-tree")
    except GitError as error:
        applied = error.stderr
    if applied != tree:
        raise EnvironmentFailedError(f"the patch does not lead from the base to the work tree: {applied}")
    return patch
