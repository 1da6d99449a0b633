"""The proof is attacked: one planted thing and it no longer holds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from clawbench.environments.repo import Repository, Workspace, open_source, prepare_workspace, prove
from clawbench.environments.repo import workspace as workspace_module
from clawbench.errors import EnvironmentFailedError
from clawbench.tasks import CodingTask
from tests.environments.repo.repositories import Repo

Plant = Callable[[Repo], None]


def loose_object(inside: Repo) -> None:
    inside.git("hash-object", "-w", "--stdin", stdin=b"planted")


def second_pack(inside: Repo) -> None:
    blob = inside.git("hash-object", "-w", "--stdin", stdin=b"planted")
    inside.git("pack-objects", "-q", ".git/objects/pack/pack", stdin=f"{blob}\n".encode())
    shutil.rmtree(inside.path / ".git/objects" / blob[:2])


def larger_pack(inside: Repo) -> None:
    """One pack as before, but with an object more."""
    blob = inside.git("hash-object", "-w", "--stdin", stdin=b"planted")
    reachable = inside.git("rev-list", "--objects", "--no-object-names", "HEAD")
    for file in (inside.path / ".git/objects/pack").iterdir():
        file.rename(inside.path / file.name)
    for file in inside.path.glob("pack-*.pack"):
        inside.git("unpack-objects", "-q", stdin=file.read_bytes())
    inside.git("pack-objects", "-q", ".git/objects/pack/pack", stdin=f"{reachable}\n{blob}\n".encode())
    inside.git("prune-packed", "-q")
    for file in inside.path.glob("pack-*"):
        file.unlink()


def pack_without_index(inside: Repo) -> None:
    second_pack(inside)
    packs = sorted((inside.path / ".git/objects/pack").glob("*.pack"), key=lambda file: file.stat().st_size)
    packs[0].with_suffix(".idx").unlink()


def index_that_says_less(inside: Repo) -> None:
    pack = next((inside.path / ".git/objects/pack").glob("*.pack"))
    pack.chmod(0o644)
    content = bytearray(pack.read_bytes())
    content[11] += 1
    pack.write_bytes(content)


def unfinished_pack(inside: Repo) -> None:
    inside.write(".git/objects/pack/tmp_pack_x", b"planted")


def alternates(inside: Repo) -> None:
    inside.write(".git/objects/info/alternates", f"{inside.path.parent.parent}/source/.git/objects\n")


def branch(inside: Repo) -> None:
    tree = inside.git("rev-parse", "HEAD^{tree}")
    inside.git("branch", "other", inside.git("commit-tree", tree, "-m", "planted"))


def dangling_ref(inside: Repo) -> None:
    inside.write(".git/refs/heads/other", "1" * 40 + "\n")


def packed_ref(inside: Repo) -> None:
    file = inside.path / ".git/packed-refs"
    file.write_text(file.read_text() + "1" * 40 + " refs/tags/v9\n")


def annotated_tag(inside: Repo) -> None:
    inside.git("tag", "-a", "-m", "planted", "v9")


def moved_head(inside: Repo) -> None:
    inside.git("checkout", "-q", "--detach", "HEAD~1")


def note(inside: Repo) -> None:
    inside.git("notes", "add", "-m", "planted")


def reflog(inside: Repo) -> None:
    inside.write(".git/logs/HEAD", "planted\n")


def submodule_store(inside: Repo) -> None:
    (inside.path / ".git/modules/x").mkdir(parents=True)
    inside.write(".git/modules/x/HEAD", "x")


def other_worktree(inside: Repo) -> None:
    inside.git("worktree", "add", "-q", "--detach", str(inside.path.parent / "more"))


def bundle(inside: Repo) -> None:
    inside.git("bundle", "create", ".git/x.bundle", "HEAD")


def hook(inside: Repo) -> None:
    inside.write(".git/hooks/pre-commit", "#!/bin/sh\n")


def link_in_the_store(inside: Repo) -> None:
    (inside.path / ".git/objects/more").symlink_to("/tmp")


def untracked_file(inside: Repo) -> None:
    inside.write("notes.txt", "planted")


def nested_repository(inside: Repo) -> None:
    inside.git("init", "-q", "sub")


def linked_directory(inside: Repo) -> None:
    (inside.path / "more").symlink_to("/tmp")


def missing_object(inside: Repo) -> None:
    shutil.rmtree(inside.path / ".git/objects/pack")


def shallow_file(inside: Repo) -> None:
    inside.write(".git/shallow", inside.git("rev-parse", "HEAD") + "\n")


PLANTS: list[Plant] = [
    loose_object, second_pack, larger_pack, pack_without_index, index_that_says_less, unfinished_pack,
    alternates, branch, dangling_ref, packed_ref, annotated_tag, moved_head, note, reflog, submodule_store,
    other_worktree, bundle, hook, link_in_the_store, untracked_file, nested_repository, linked_directory,
    missing_object, shallow_file,
]  # fmt: skip


@pytest.fixture
def source(new_repo: Callable[[str], Repo]) -> Repo:
    repo = new_repo("source")
    repo.write("a.txt", "a\n")
    repo.commit("Begin")
    repo.write("b.txt", "b\n")
    repo.commit("Go on")
    repo.write("c.txt", "future\n")
    repo.commit("Future")
    return repo


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_planted_thing_breaks_the_proof(
    plant: Plant, source: Repo, prepare: Callable[..., Workspace]
) -> None:
    workspace = prepare(source.path, source.git("rev-parse", "HEAD~1"))
    assert anyio.run(prove, workspace.path, workspace.base_commit).holds
    plant(Repo(workspace.path))
    proof = anyio.run(prove, workspace.path, workspace.base_commit)
    assert not proof.holds
    assert proof.leaks


def test_one_object_in_the_pack_is_named(source: Repo, prepare: Callable[..., Workspace]) -> None:
    workspace = prepare(source.path, source.git("rev-parse", "HEAD~1"))
    inside = Repo(workspace.path)
    larger_pack(inside)
    proof = anyio.run(prove, workspace.path, workspace.base_commit)
    blob = inside.git("hash-object", "--stdin", stdin=b"planted")
    assert proof.leaks == (f"object not reachable from the base commit: {blob}",)
    assert proof.objects == proof.reachable + 1


def test_proof_counts_objects(source: Repo, prepare: Callable[..., Workspace]) -> None:
    proof = prepare(source.path, source.git("rev-parse", "HEAD~1")).proof
    assert (proof.objects, proof.reachable, proof.leaks) == (6, 6, ())


def test_run_is_refused_when_the_proof_fails(
    source: Repo, make_task: Callable[..., CodingTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real preparation, with one object too many slipped in before the proof."""
    fill = workspace_module._fill

    async def careless(repository: Repository, path: Path, base: str, tags: dict[str, str]) -> None:
        await fill(repository, path, base, tags)
        Repo(path).git("hash-object", "-w", "--stdin", stdin=b"planted")

    monkeypatch.setattr(workspace_module, "_fill", careless)
    task = make_task(source.path, source.git("rev-parse", "HEAD~1"))

    async def both() -> None:
        await prepare_workspace(task, await open_source(task, tmp_path / "cache"), tmp_path / "run")

    with pytest.raises(EnvironmentFailedError, match="does not start"):
        anyio.run(both)
