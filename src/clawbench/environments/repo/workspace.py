"""The agent's workspace: the base commit and its past in a fresh repository, proved to hold no more."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import anyio

from clawbench.environments.repo.changes import changes_between
from clawbench.environments.repo.git import GitError, Repository, create_bare, object_format
from clawbench.environments.repo.packs import bring_pack, keep_pack
from clawbench.environments.repo.proof import BRANCH, Proof, prove
from clawbench.environments.repo.snapshot import take_snapshot
from clawbench.errors import EnvironmentFailedError, InputError
from clawbench.tasks import CodingTask

_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
{extensions}[user]
\tname = Agent
\temail = agent@localhost
"""


@dataclass(frozen=True)
class Workspace:
    """A prepared repository. Only `path` may be mounted into a sandbox."""

    path: Path
    store: Path
    """Our own bare repository, from which the agent's work is compared; the agent never sees it."""
    base_commit: str
    baseline: str
    """Tree of the untouched checkout: where line-ending attributes are odd it is not the base's tree."""
    test_files: frozenset[str]
    """What the test patch touches: scoring replaces these files, so they are no part of a cleaned patch."""
    proof: Proof


async def prepare_workspace(
    task: CodingTask, source: Path, directory: Path, *, cache: Path | None = None
) -> Workspace:
    """Make `directory/workspace` at the base commit; refuses where the proof does not hold.

    With `cache` the pack of a proof that held is kept; the next workspace gets a copy of the same bytes, and
    only what is around them is proved again.
    """
    path, store = directory / "workspace", directory / "store.git"
    own = await create_bare(store, task.base_commit, borrow_from=source)
    proved, tags = await asyncio.gather(
        _fill(own, path, task.base_commit, cache), _past_tags(Repository(source), task.base_commit)
    )
    await _check_out(path, task.base_commit, tags)
    proof, baseline, tests = await asyncio.gather(
        prove(path, task.base_commit, proved_objects=proved),
        take_snapshot(store, path, task.base_commit),
        paths_of_test_patch(own, task),
    )
    if not proof.holds:
        found = "; ".join(proof.leaks[:5]) or f"{proof.objects} objects, {proof.reachable} reachable"
        raise EnvironmentFailedError(
            f"{task.id}: the workspace holds more or less than the base commit's past: {found}. "
            "The run does not start; check the task's repository with `git fsck`"
        )
    if cache is not None and proved is None:
        pack = path / ".git" / "objects" / "pack"
        await anyio.to_thread.run_sync(keep_pack, cache, task.base_commit, pack, proof.objects)
    return Workspace(path, store, task.base_commit, baseline.tree, tests, proof)


async def prepare_workspace_with_future(task: CodingTask, source: Path, directory: Path) -> Workspace:
    """The same with everything the source has, branches and tags included: for before/after studies only."""
    path, store = directory / "workspace", directory / "store.git"
    own = await create_bare(store, task.base_commit, borrow_from=source)
    path.mkdir(parents=True)
    repository = Repository(path / ".git", path)
    await repository.run("init", "-q", "--template=", f"--initial-branch={BRANCH}")
    (path / ".git" / "config").write_text(_CONFIG.format(version=0, extensions=""), encoding="utf-8")
    listing = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
    refs = (await Repository(source).run(*listing)).splitlines()
    wanted = b"".join(line.split(b" ")[0] + b"\n" for line in refs) + task.base_commit.encode() + b"\n"
    pack = str(path / ".git" / "objects" / "pack" / "pack")
    packing = ("pack-objects", "--revs", "--delta-base-offset", "--window=0", "-q", "--missing=allow-any")
    await own.run(*packing, pack, stdin=wanted)
    named = [line.split(b" ", 1) for line in refs if not line.endswith(f" refs/heads/{BRANCH}".encode())]
    commands = b"".join(b"create %s %s\n" % (name, identity) for identity, name in named)
    commands += f"create refs/heads/{BRANCH} {task.base_commit}\n".encode()
    await repository.run("update-ref", "--stdin", stdin=commands)
    await repository.run("read-tree", "-m", "-u", "HEAD")
    proof = Proof(task.base_commit, 0, 0, ("the future was left in place",))
    baseline = await take_snapshot(store, path, task.base_commit)
    tests = await paths_of_test_patch(own, task)
    return Workspace(path, store, task.base_commit, baseline.tree, tests, proof)


async def _fill(own: Repository, path: Path, base_commit: str, cache: Path | None) -> int | None:
    """Make the store; returns the number of its objects where they are a pack that was proved before."""
    path.mkdir(parents=True)
    repository = Repository(path / ".git", path)
    form = object_format(base_commit)
    await repository.run("init", "-q", "--template=", f"--initial-branch={BRANCH}", f"--object-format={form}")
    sha256 = form == "sha256"
    extensions = "[extensions]\n\tobjectformat = sha256\n" if sha256 else ""
    config = _CONFIG.format(version=1 if sha256 else 0, extensions=extensions)
    (path / ".git" / "config").write_text(config, encoding="utf-8")
    objects, proved = path / ".git" / "objects", None
    if cache is not None:
        (objects / "pack").mkdir(exist_ok=True)
        proved = await anyio.to_thread.run_sync(bring_pack, cache, base_commit, objects / "pack")
    if proved is None:
        await own.pack_into(base_commit, objects)
    return proved


async def _check_out(path: Path, base_commit: str, tags: dict[str, str]) -> None:
    repository = Repository(path / ".git", path)
    refs = {f"refs/heads/{BRANCH}": base_commit, **tags}
    commands = "".join(f"create {name} {identity}\n" for name, identity in refs.items())
    await repository.run("update-ref", "--stdin", stdin=commands.encode(errors="surrogateescape"))
    await repository.run("pack-refs", "--all")
    await repository.run("read-tree", "-m", "-u", "HEAD")


async def _past_tags(source: Repository, base_commit: str) -> dict[str, str]:
    """Tags of commits that the base reaches, as plain names: a tag object is no part of that history."""
    past = set((await source.line("rev-list", base_commit)).split())
    listing = "--format=%(refname) %(objectname) %(*objectname)"
    lines = (await source.run("for-each-ref", listing, "refs/tags")).splitlines()
    rows = (line.decode(errors="surrogateescape").split(" ") for line in lines)
    targets = {name: peeled or direct for name, direct, peeled in rows}
    return {name: target for name, target in targets.items() if target in past}


async def tree_with_tests(repository: Repository, task: CodingTask) -> str:
    """The tree of the base commit with the test patch applied. Needs a repository with an index."""
    await repository.run("read-tree", task.base_commit)
    try:
        if task.test_patch:
            await apply_to_index(repository, task.test_patch.encode())
    except GitError as error:
        raise InputError(
            f"does not apply to the base commit ({error.stderr})",
            file=task.directory / "task.json",
            field="test_patch",
            remedy="Take it with `git diff --binary` against base_commit, with its last newline",
        ) from None
    return await repository.line("write-tree")


async def apply_to_index(repository: Repository, patch: bytes) -> None:
    await repository.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch)


async def paths_of_test_patch(own: Repository, task: CodingTask) -> frozenset[str]:
    """Every path the test patch adds, changes or deletes."""
    repository = Repository(own.git_dir, index=own.git_dir / "tests.index")
    tree = await tree_with_tests(repository, task)
    return frozenset(
        change.path for change in await changes_between(own, f"{task.base_commit}^{{tree}}", tree)
    )
