"""Finding a repository among the git mirrors of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from clawbench.errors import InputError
from clawbench.given import usable_path

VARIABLE = "CLAWBENCH_MIRROR"


def mirror_directories(given: Sequence[Path]) -> list[Path]:
    """Where to look: what was given, else what the environment variable lists."""
    listed = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return list(given) or [Path(part) for part in listed]


def find_mirror(repo: str, directories: Sequence[Path]) -> Path:
    """The repository `owner/name` in one of the directories, or one of these itself."""
    for directory in directories:
        with usable_path(directory, "Give a directory with git mirrors", "--mirror"):
            for candidate in _candidates(directory.expanduser(), repo):
                if is_repository(candidate):
                    return candidate.resolve()
    raise InputError(
        f"no mirror of {repo} in {', '.join(map(str, directories)) or 'any directory'}",
        field="--mirror",
        remedy=f"`git clone --mirror https://github.com/{repo} DIR/{repo}.git`, then give --mirror DIR "
        f"(or set {VARIABLE})",
    )


def is_repository(path: Path) -> bool:
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def _candidates(directory: Path, repo: str) -> Iterator[Path]:
    owner, name = repo.split("/")
    for stem in (repo, f"{owner}__{name}", f"{owner}+{name}", f"{owner}-{name}", f"{owner}_{name}", name):
        for ending in (stem, f"{stem}.git", f"{stem}/repo", f"{stem}/{name}.git"):
            yield directory / ending
    if is_repository(directory):
        yield directory
