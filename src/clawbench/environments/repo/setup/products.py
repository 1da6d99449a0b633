"""What installing a base commit left in its tree (built modules, metadata), for other checkouts of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Container
from pathlib import Path

from clawbench.environments.repo.git import GitError, Repository


def add_products(products: Path, checkout: Path, only: Container[str] | None = None) -> None:
    """Copy them in, where nothing else is in their place."""
    for name in names_of(products):
        target = checkout / name
        inside = target.parent.resolve().is_relative_to(checkout.resolve())
        if inside and not os.path.lexists(target) and (only is None or name in only):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(products / name, target)


async def ignored_products(products: Path, store: Path, work_tree: Path) -> frozenset[str]:
    """Those that the repository's own .gitignore keeps out of every patch."""
    listed = b"".join(os.fsencode(name) + b"\0" for name in names_of(products))
    try:
        found = await Repository(store, work_tree).run(
            "check-ignore", "-z", "--no-index", "--stdin", stdin=listed
        )
    except GitError:  # none is ignored
        return frozenset()
    return frozenset(os.fsdecode(name) for name in found.split(b"\0"))


def names_of(products: Path) -> list[str]:
    return sorted(str(file.relative_to(products)) for file in products.rglob("*") if file.is_file())
