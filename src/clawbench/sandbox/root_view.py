"""Another root file system than the host's: a tree of a distribution, shown read-only piece by piece."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clawbench.errors import InputError
from clawbench.given import usable_path
from clawbench.sandbox.protocol import Mount

_OURS = ("proc", "sys", "dev", "run", "tmp", "home", "var/tmp", "var/run", "var/lock")
"""Made by us, or not shown at all; the tree's own are left out."""
_PRIVATE = (
    "etc/shadow",
    "etc/shadow-",
    "etc/gshadow",
    "etc/gshadow-",
    "etc/resolv.conf",
    "etc/mtab",
    "etc/hostname",
)


@dataclass(frozen=True)
class Link:
    path: str
    to: str


@dataclass(frozen=True)
class Opened:
    """A directory of our own, because something is to be mounted below it."""

    path: str


def check_root(tree: Path, kept: Sequence[Path]) -> Path:
    """The tree, where it looks like a root file system and holds nothing of `kept`."""
    with usable_path(tree, _MADE_FOR_IT, "--rootfs"):
        real = tree.expanduser().resolve()
        is_root = (real / "usr").is_dir() or (real / "bin").is_dir()
    if not is_root:
        problem = "is no root file system: it has neither usr nor bin"
    elif inside := [path for path in kept if Path(os.path.realpath(path)).is_relative_to(real)]:
        problem = f"would show the agent what must stay out of its reach ({inside[0]})"
    else:
        return real
    raise InputError(problem, file=tree, field="--rootfs", remedy=_MADE_FOR_IT)


_MADE_FOR_IT = "Give a directory made for it, by `mmdebstrap --variant=minbase stable DIR` for instance"


def tree_entries(tree: Path, targets: Sequence[str]) -> Iterator[Mount | Link | Opened]:
    """All of the tree; directories in which something of `targets` lies are opened up, not mounted whole."""
    wanted = {PurePosixPath(target.lstrip("/")) for target in (*targets, *_OURS, *_PRIVATE)}
    above = {parent for path in wanted for parent in path.parents}
    yield from _entries(tree, PurePosixPath(), wanted, above)


def _entries(
    tree: Path, below: PurePosixPath, wanted: set[PurePosixPath], above: set[PurePosixPath]
) -> Iterator[Mount | Link | Opened]:
    for entry in sorted(os.scandir(tree / below), key=lambda one: one.name):
        path = below / entry.name
        if path in wanted:
            continue
        if path in above:
            yield Opened(f"/{path}")
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(tree, path, wanted, above)
        elif entry.is_symlink():
            yield Link(f"/{path}", os.readlink(entry.path))
        elif entry.is_dir() or entry.is_file():
            yield Mount(Path(entry.path), f"/{path}")


def system_name(tree: Path) -> str:
    """As the tree calls itself, in one short line."""
    try:
        lines = (tree / "usr/lib/os-release").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "one without a name"
    found = [line.partition("=")[2].strip("\"'") for line in lines if line.startswith("PRETTY_NAME=")]
    return found[0][:80] if found else "one without a name"
