"""The trees that tests run on, and fresh checkouts of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clawbench.environments.repo import (
    GitError,
    Repository,
    apply_to_index,
    changes_between,
    create_bare,
    tree_with_tests,
    with_changes,
)
from clawbench.scoring.kinds import kind_of
from clawbench.scoring.restoring import deciding_files, reason_to_restore
from clawbench.tasks import CodingTask


class ApplyError(Exception):
    """`git apply` does not take the patch at the base commit; the message is git's own."""


@dataclass(frozen=True)
class Trees:
    """What the tests are run on, as trees in `repository`."""

    repository: Repository
    tests: str
    """Base commit and test patch."""
    deciding: frozenset[str]
    """Files of that tree that have a say in the score."""


@dataclass(frozen=True)
class Patched:
    """The tests' tree with the part of a patch that counts."""

    tree: str
    restored: dict[str, str]
    """Paths of the patch that were put back, and why."""


async def open_trees(task: CodingTask, source: Path, scratch: Path) -> Trees:
    store = await create_bare(scratch / "evaluation.git", task.base_commit, borrow_from=source)
    repository = Repository(store.git_dir, index=scratch / "evaluation.index")
    tree = await tree_with_tests(repository, task)
    listed = await repository.run("ls-tree", "-r", "-z", "--name-only", tree)
    files = frozenset(os.fsdecode(path) for path in listed.split(b"\0")[:-1])
    changed = await changes_between(repository, f"{task.base_commit}^{{tree}}", tree)
    kind = kind_of(task)
    homes = [kind.file_of(test, files) for test in (*task.fail_to_pass, *task.pass_to_pass)]
    return Trees(repository, tree, deciding_files(homes, (change.path for change in changed)))


async def apply_patch(trees: Trees, base_commit: str, patch: bytes) -> Patched:
    """Apply the patch to the base commit, then put the tests over it."""
    repository = trees.repository
    await repository.run("read-tree", base_commit)
    try:
        await apply_to_index(repository, patch)
    except GitError as error:
        raise ApplyError(error.stderr) from None
    applied = await repository.line("write-tree")
    changes = await changes_between(repository, f"{base_commit}^{{tree}}", applied)
    reasons = {change.path: reason_to_restore(change.path, trees.deciding) for change in changes}
    counted = [change for change in changes if reasons[change.path] is None]
    restored = {_shown(path): why for path, why in reasons.items() if why is not None}
    return Patched(await with_changes(repository, trees.tests, counted), restored)


async def check_out(trees: Trees, tree: str, target: Path) -> None:
    """Write a tree's files into a new directory; there is no .git in it."""
    target.mkdir(parents=True)
    index = target.with_name(f"{target.name}.index")
    await Repository(trees.repository.git_dir, target, index).run("read-tree", "-m", "-u", tree)
    index.unlink()


def copy_files(checkout: Path, paths: Iterable[str], target: Path) -> dict[str, Path]:
    """Copies of plain files outside the checkout, for mounting them over it read-only."""
    target.mkdir()
    copies = {}
    for number, path in enumerate(sorted(paths)):
        file = checkout / path
        if file.is_file() and file.resolve() == checkout.resolve() / path:
            copies[path] = target / str(number)
            shutil.copy(file, copies[path])
    return copies


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
