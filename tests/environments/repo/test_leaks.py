"""Every way we know in which a fix can hide in a repository, and none of them reaches the workspace."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawbench.environments.repo import Workspace
from tests.environments.repo.repositories import Repo

SECRET = "the answer is in this file\n"
OLD = "2001-09-09T01:46:40+0000"
Hide = Callable[["Scene"], None]


class Scene:
    """A source with base commit and a detached fix, which one of the functions below hides somewhere."""

    def __init__(self, repo: Repo, new_repo: Callable[[str], Repo]) -> None:
        self.repo, self.new_repo = repo, new_repo
        repo.write("code.txt", "one\n")
        self.first = repo.commit("Begin", date="2023-01-01T00:00:00+0000")
        repo.git("tag", "-a", "v1", "-m", "first version")
        repo.write("code.txt", "one\ntwo\n")
        self.base = repo.commit("Go on")
        self.make_fix()

    def make_fix(self, date: str = "2024-06-01T00:00:00+0000") -> None:
        self.repo.git("checkout", "-q", "--detach", self.base)
        self.repo.write("code.txt", SECRET)
        self.fix = self.repo.commit("Fix it", date=date)
        self.blob = self.repo.git("rev-parse", "HEAD:code.txt")
        self.tree = self.repo.git("rev-parse", "HEAD^{tree}")
        self.repo.git("checkout", "-q", "trunk")


def branch(scene: Scene) -> None:
    scene.repo.git("branch", "fix", scene.fix)


def current_branch(scene: Scene) -> None:
    scene.repo.git("merge", "-q", "--ff-only", scene.fix)


def old_committer_date(scene: Scene) -> None:
    scene.make_fix(OLD)
    scene.repo.git("branch", "fix", scene.fix)


def skewed_tip_date(scene: Scene) -> None:
    scene.repo.git("commit", "-q", "--allow-empty", "-m", "From the future", date="2035-01-01T00:00:00+0000")
    scene.base = scene.repo.git("rev-parse", "HEAD")
    scene.make_fix(OLD)
    scene.repo.git("merge", "-q", "--ff-only", scene.fix)


def timezone(scene: Scene) -> None:
    scene.make_fix("2024-01-01T13:00:00+1400")
    scene.repo.git("branch", "fix", scene.fix)


def lightweight_tag(scene: Scene) -> None:
    scene.repo.git("tag", "v2", scene.fix)


def annotated_tag(scene: Scene) -> None:
    scene.repo.git("tag", "-a", "v2", "-m", "with the fix", scene.fix)


def annotated_tag_of_a_tree(scene: Scene) -> None:
    scene.repo.git("tag", "-a", "snapshot", "-m", "a tree", scene.tree)


def tag_of_a_blob(scene: Scene) -> None:
    scene.repo.git("tag", "answer", scene.blob)


def tag_of_a_tag(scene: Scene) -> None:
    scene.repo.git("tag", "-a", "inner", "-m", "x", scene.fix)
    scene.repo.git("tag", "-a", "outer", "-m", "x", "inner")


def remote_ref(scene: Scene) -> None:
    scene.repo.git("update-ref", "refs/remotes/origin/main", scene.fix)


def pull_ref(scene: Scene) -> None:
    scene.repo.git("update-ref", "refs/pull/7/head", scene.fix)


def stash(scene: Scene) -> None:
    scene.repo.write("code.txt", SECRET)
    scene.repo.git("stash")


def notes(scene: Scene) -> None:
    scene.repo.git("notes", "add", "-m", SECRET, scene.base)
    scene.blob = scene.repo.git("notes", "list", scene.base)


def worktree(scene: Scene) -> None:
    scene.repo.git("worktree", "add", "-q", "--detach", str(scene.repo.path.parent / "other"), scene.fix)


def replace_ref(scene: Scene) -> None:
    scene.repo.git("replace", scene.base, scene.fix)


def replaced_parent(scene: Scene) -> None:
    scene.repo.git("replace", "--graft", scene.base, scene.fix)


def grafts_file(scene: Scene) -> None:
    scene.repo.write(".git/info/grafts", f"{scene.base} {scene.fix}\n")


def reflog(scene: Scene) -> None:
    scene.repo.git("reset", "-q", "--hard", scene.fix)
    scene.repo.git("reset", "-q", "--hard", scene.base)


def fetch_head(scene: Scene) -> None:
    scene.repo.write(".git/FETCH_HEAD", f"{scene.fix}\t\tbranch 'fix' of example\n")


def orig_head(scene: Scene) -> None:
    scene.repo.write(".git/ORIG_HEAD", f"{scene.fix}\n")


def merge_in_progress(scene: Scene) -> None:
    scene.repo.write(".git/MERGE_HEAD", f"{scene.fix}\n")


def bundle_file(scene: Scene) -> None:
    scene.repo.git("branch", "fix", scene.fix)
    scene.repo.git("bundle", "create", ".git/fix.bundle", "fix")


def untracked_bundle(scene: Scene) -> None:
    scene.repo.git("branch", "fix", scene.fix)
    scene.repo.git("bundle", "create", "fix.bundle", "fix")


def dangling_loose(scene: Scene) -> None:
    scene.repo.git("reflog", "expire", "--expire=now", "--all")


def dangling_packed(scene: Scene) -> None:
    scene.repo.git("branch", "fix", scene.fix)
    scene.repo.git("repack", "-adq")
    scene.repo.git("branch", "-D", "fix")


def kept_pack(scene: Scene) -> None:
    dangling_packed(scene)
    for pack in (scene.repo.path / ".git/objects/pack").glob("*.pack"):
        pack.with_suffix(".keep").touch()


def bitmap_and_commit_graph(scene: Scene) -> None:
    scene.repo.git("branch", "fix", scene.fix)
    scene.repo.git("repack", "-adbq")
    scene.repo.git("commit-graph", "write", "--reachable")


def staged(scene: Scene) -> None:
    scene.repo.write("code.txt", SECRET)
    scene.repo.git("add", "code.txt")


def unstaged(scene: Scene) -> None:
    scene.repo.write("code.txt", SECRET)


def alternates(scene: Scene) -> None:
    other = scene.new_repo("lender")
    shutil.copytree(scene.repo.path / ".git/objects", other.path / ".git/objects", dirs_exist_ok=True)
    scene.repo.write(".git/objects/info/alternates", f"{other.path}/.git/objects\n")


def submodule_store(scene: Scene) -> None:
    shutil.copytree(scene.repo.path / ".git", scene.repo.path / ".git/modules/lib")


def real_submodule(scene: Scene) -> None:
    other = scene.new_repo("library")
    other.write("lib.txt", SECRET)
    other.commit("Fix in the library")
    scene.repo.git("submodule", "add", "-q", str(other.path), "lib")
    scene.base = scene.repo.commit("Add the library")
    scene.make_fix()


def hooks_and_configuration(scene: Scene) -> None:
    scene.repo.write(".git/hooks/post-checkout", f"#!/bin/sh\necho '{SECRET}' > answer\n").chmod(0o755)
    scene.repo.git("config", "remote.origin.url", f"https://example.org/{scene.fix}")
    scene.repo.git("config", "filter.leak.smudge", "echo leaked")


def info_attributes(scene: Scene) -> None:
    scene.repo.git("config", "filter.leak.smudge", f"printf %s '{SECRET}'")
    scene.repo.write(".git/info/attributes", "* filter=leak\n")


WAYS: list[Hide] = [
    branch, current_branch, old_committer_date, skewed_tip_date, timezone, lightweight_tag, annotated_tag,
    annotated_tag_of_a_tree, tag_of_a_blob, tag_of_a_tag, remote_ref, pull_ref, stash, notes, worktree,
    replace_ref, replaced_parent, grafts_file, reflog, fetch_head, orig_head, merge_in_progress, bundle_file,
    untracked_bundle, dangling_loose, dangling_packed, kept_pack, bitmap_and_commit_graph, staged, unstaged,
    alternates, submodule_store, real_submodule, hooks_and_configuration, info_attributes,
]  # fmt: skip


def files_below(directory: Path) -> Iterator[Path]:
    yield from (Path(parent, name) for parent, _, names in os.walk(directory) for name in names)


@pytest.mark.parametrize("hide", WAYS, ids=lambda hide: hide.__name__)
def test_fix_is_not_in_the_workspace(
    hide: Hide, new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace]
) -> None:
    scene = Scene(new_repo("source"), new_repo)
    hide(scene)
    assert scene.repo.has(scene.fix)
    workspace = prepare(scene.repo.path, scene.base)
    inside = Repo(workspace.path)
    assert not [name for name in (scene.fix, scene.tree, scene.blob) if inside.has(name)]
    for file in files_below(workspace.path):
        content = file.read_bytes()
        assert SECRET.encode() not in content, file
        assert scene.fix.encode() not in content, file
    assert workspace.proof.holds
    assert inside.git("fsck", "--full", "--unreachable", "--no-reflogs") == ""


@pytest.mark.parametrize("hide", [branch, real_submodule, annotated_tag], ids=lambda hide: hide.__name__)
def test_history_stays_usable(
    hide: Hide, new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace]
) -> None:
    scene = Scene(new_repo("source"), new_repo)
    hide(scene)
    inside = Repo(prepare(scene.repo.path, scene.base).path)
    assert inside.git("rev-parse", "HEAD") == scene.base
    assert inside.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert inside.git("log", "--format=%s").splitlines()[-2:] == ["Go on", "Begin"]
    assert scene.first[:7] in inside.git("blame", "code.txt")
    assert inside.git("status", "--porcelain") == ""
    assert inside.git("remote") == ""
    assert inside.git("tag") == "v1"
    assert inside.git("rev-parse", "v1") == scene.first


def test_message_of_a_past_tag_stays_out(
    new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace]
) -> None:
    scene = Scene(new_repo("source"), new_repo)
    scene.repo.git("tag", "-a", "v1.1", "-m", SECRET, scene.first)
    tag = scene.repo.git("rev-parse", "v1.1")
    inside = Repo(prepare(scene.repo.path, scene.base).path)
    assert not inside.has(tag)
    assert inside.git("cat-file", "-t", "v1.1") == "commit"


def test_agent_can_work_with_git(new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace]) -> None:
    scene = Scene(new_repo("source"), new_repo)
    inside = Repo(prepare(scene.repo.path, scene.base).path)
    inside.write("new.txt", "x")
    inside.git("checkout", "-q", "-b", "mine")
    inside.commit("Try something")
    inside.git("stash", "list")
    assert inside.git("log", "--oneline").count("\n") == 2
