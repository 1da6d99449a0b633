"""Packs that were proved are used again, byte for byte, or not at all; and a future that is left in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio

from clawbench.environments.repo import (
    Workspace,
    commits_beyond,
    open_source,
    patch_in_message,
    prepare_workspace,
    prepare_workspace_with_future,
    take_patch,
)
from clawbench.environments.repo import workspace as making
from clawbench.tasks import CodingTask
from tests.environments.repo.repositories import Repo


class Prepared:
    """One task, prepared again and again over one cache."""

    def __init__(self, tmp_path: Path, repo: Repo, make_task: Callable[..., CodingTask]) -> None:
        repo.write("a.txt", "a\n")
        self.base = repo.commit("first")
        repo.git("tag", "v1")
        repo.write("a.txt", "the fix\n")
        self.fix = repo.commit("fix")
        self.task, self.root, self.count = make_task(repo.path, self.base), tmp_path, 0

    def again(self) -> Workspace:
        self.count += 1

        async def act() -> Workspace:
            source = await open_source(self.task, self.root / "cache")
            target = self.root / f"run-{self.count}"
            return await prepare_workspace(self.task, source, target, cache=self.root / "cache")

        return anyio.run(act)

    @property
    def kept(self) -> Path:
        (pack,) = (self.root / "cache" / "packs" / self.base).glob("*.pack")
        return pack


def test_second_workspace_is_a_copy_without_packing(
    tmp_path: Path, new_repo: Callable[[], Repo], make_task: Callable[..., CodingTask], monkeypatch: object
) -> None:
    prepared = Prepared(tmp_path, new_repo(), make_task)
    first = prepared.again()
    proved: list[int | None] = []
    prove = making.prove

    async def watched(path: Path, base: str, *, proved_objects: int | None = None) -> making.Proof:
        proved.append(proved_objects)
        return await prove(path, base, proved_objects=proved_objects)

    monkeypatch.setattr(making, "prove", watched)  # type: ignore[attr-defined]
    second = prepared.again()
    assert proved == [first.proof.objects]
    assert second.proof.holds
    workspace = Repo(second.path)
    assert workspace.git("log", "--format=%s") == "first"
    assert workspace.git("tag") == "v1"
    assert not workspace.has(prepared.fix)
    second.path.joinpath("a.txt").write_text("b\n")
    assert b"+b" in anyio.run(take_patch, second).cleaned


def test_a_kept_pack_that_was_changed_is_not_used(
    tmp_path: Path, new_repo: Callable[[], Repo], make_task: Callable[..., CodingTask]
) -> None:
    repo = new_repo()
    prepared = Prepared(tmp_path, repo, make_task)
    prepared.again()
    inode = prepared.kept.stat().st_ino
    whole = repo.git("pack-objects", "--all", str(tmp_path / "all"), stdin=b"")
    prepared.kept.chmod(0o600)
    prepared.kept.write_bytes((tmp_path / f"all-{whole}.pack").read_bytes())
    again = prepared.again()
    assert again.proof.holds
    assert not Repo(again.path).has(prepared.fix)
    assert prepared.kept.stat().st_ino != inode


def test_a_ref_into_the_future_is_found_around_a_kept_pack(
    tmp_path: Path, new_repo: Callable[[], Repo], make_task: Callable[..., CodingTask]
) -> None:
    prepared = Prepared(tmp_path, new_repo(), make_task)
    prepared.again()
    workspace = prepared.again()
    (workspace.path / ".git" / "refs" / "heads" / "extra").write_text(prepared.fix + "\n")
    proof = anyio.run(lambda: making.prove(workspace.path, prepared.base, proved_objects=3))
    assert not proof.holds


def test_future_is_kept_on_demand_and_seen_in_ids(
    tmp_path: Path, new_repo: Callable[[], Repo], make_task: Callable[..., CodingTask]
) -> None:
    repo = new_repo()
    prepared = Prepared(tmp_path, repo, make_task)

    async def act() -> Workspace:
        source = await open_source(prepared.task, tmp_path / "cache")
        return await prepare_workspace_with_future(prepared.task, source, tmp_path / "run")

    workspace = anyio.run(act)
    inside = Repo(workspace.path)
    assert inside.has(prepared.fix)
    assert inside.git("rev-parse", "HEAD") == prepared.base
    assert inside.git("status", "--porcelain") == ""
    assert not workspace.proof.holds
    names = [prepared.fix[:12], prepared.base, "f" * 40]
    assert anyio.run(commits_beyond, repo.path / ".git", prepared.base, names) == [prepared.fix]


def test_patch_in_a_message() -> None:
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert patch_in_message(f"First\n```diff\nold\n```\nthen\n```diff\n{diff}```\nDone.") == diff
    assert patch_in_message(f"~~~patch\n{diff}~~~\n") == diff
    assert patch_in_message(f"Here it is:\n{diff}") == diff
    assert patch_in_message("```python\nprint(1)\n```") == ""
    assert patch_in_message("nothing") == ""
