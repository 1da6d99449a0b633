"""Building a described history, commit by commit, so that the same description gives the same ids."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clawbench.environments.repo.git import GitError, Repository, create_bare
from clawbench.errors import InputError
from clawbench.tasks import first_problem
from clawbench.tasks.model import InnerPath

HISTORY_FILE = "history.json"
_REMEDY = "docs/coding.md describes the format of a history"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CommitEntry(_Strict):
    """One commit: its parents by name, and a patch that leads from the first parent to it."""

    name: str
    parents: list[str] = []
    message: str = Field(min_length=1)
    date: str
    """ISO 8601 with an offset; author and committer date."""
    patch: InnerPath | None = None
    """File beside history.json; None for a commit that changes nothing."""


class TagEntry(_Strict):
    name: str
    commit: str
    message: str | None = None
    """Given: an annotated tag with this text."""
    date: str | None = None


class HistoryEntry(_Strict):
    """The whole of history.json."""

    author: str
    email: str
    commits: list[CommitEntry] = Field(min_length=1)
    branches: dict[str, str] = Field(min_length=1)
    """Branch names and their commits; the first is the one checked out."""
    tags: list[TagEntry] = []

    @model_validator(mode="after")
    def _names_are_known(self) -> HistoryEntry:
        known = {commit.name for commit in self.commits}
        named = [*self.branches.values(), *(tag.commit for tag in self.tags)]
        if unknown := [name for name in named if name not in known]:
            raise ValueError(f"a branch or tag names a commit that is not listed: {', '.join(unknown)}")
        return self


def read_history(directory: Path) -> HistoryEntry:
    file = directory / HISTORY_FILE
    try:
        return HistoryEntry.model_validate(json.loads(file.read_bytes()))
    except ValidationError as error:
        raise first_problem(error, file, _REMEDY) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error})", file=file, remedy=_REMEDY) from None


async def build_history(directory: Path, target: Path) -> dict[str, str]:
    """Build the history into a new bare repository; returns commit names and their ids."""
    history = read_history(directory)
    bare = await create_bare(target, "0" * 40)
    repository = Repository(bare.git_dir, index=target / "building.index")
    ids: dict[str, str] = {}
    for commit in history.commits:
        try:
            ids[commit.name] = await _commit(repository, history, commit, ids, directory)
        except (GitError, KeyError, OSError) as error:
            raise InputError(
                f"commit {commit.name!r} cannot be built ({error})",
                file=directory / HISTORY_FILE,
                remedy="Each patch must apply to the commit's first parent, which is listed before it",
            ) from None
    await _name(bare, history, ids)
    assert repository.index is not None
    repository.index.unlink(missing_ok=True)
    return ids


async def import_history(stream: Path, target: Path) -> None:
    """Build a new bare repository from what `git fast-export --all` wrote."""
    repository = await create_bare(target, "0" * 40)
    try:
        await repository.run("fast-import", "--quiet", stdin=stream.read_bytes())
    except GitError as error:
        raise InputError(
            f"cannot be imported ({error.stderr.splitlines()[0] if error.stderr else error})",
            file=stream,
            remedy="Write it with `git fast-export --all`",
        ) from None


async def _commit(
    repository: Repository, history: HistoryEntry, commit: CommitEntry, ids: dict[str, str], directory: Path
) -> str:
    parents = [ids[name] for name in commit.parents]
    await repository.run("read-tree", parents[0] if parents else "--empty")
    if commit.patch is not None:
        patch = (directory / commit.patch).read_bytes()
        await repository.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch)
    tree = await repository.line("write-tree")
    return await repository.line(
        "commit-tree",
        tree,
        *(part for parent in parents for part in ("-p", parent)),
        stdin=commit.message.encode() + b"\n",
        env=_signature(history, commit.date),
    )


async def _name(repository: Repository, history: HistoryEntry, ids: dict[str, str]) -> None:
    for branch, name in history.branches.items():
        await repository.run("update-ref", f"refs/heads/{branch}", ids[name])
    await repository.run("symbolic-ref", "HEAD", f"refs/heads/{next(iter(history.branches))}")
    for tag in history.tags:
        if tag.message is None:
            await repository.run("update-ref", f"refs/tags/{tag.name}", ids[tag.commit])
        else:
            signature = _signature(history, tag.date or history.commits[0].date)
            await repository.run("tag", "-a", "-m", tag.message, tag.name, ids[tag.commit], env=signature)


def _signature(history: HistoryEntry, date: str) -> dict[str, str]:
    return {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", history.author), ("EMAIL", history.email), ("DATE", date))
    }
