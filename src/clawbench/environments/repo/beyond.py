"""Commits of the source that a base commit cannot reach: its future, and what lies beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clawbench.environments.repo.git import Repository


async def commits_beyond(source: Path, base_commit: str, names: Iterable[str]) -> list[str]:
    """Which of these ids, whole or shortened, name commits that are not in the base commit's past."""
    wanted = sorted(set(names))
    if not wanted:
        return []
    repository = Repository(source)
    asked = "".join(f"{name}^{{commit}}\n" for name in wanted).encode()
    answers = (
        await repository.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked)
    ).decode()
    rows = [line.split(" ") for line in answers.splitlines()]
    commits = {row[0] for row in rows if len(row) == 2 and row[1] == "commit"}
    if not commits:
        return []
    listed = await repository.line("rev-list", "--no-walk", *sorted(commits), f"^{base_commit}")
    return [commit for commit in listed.split() if commit in commits]
