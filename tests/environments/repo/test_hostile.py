"""An agent owns its workspace, .git included. Nothing planted there runs on, or blinds, the trusted side."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from clawbench.environments.repo import Workspace, take_patch
from tests.environments.repo.repositories import Repo

Trick = Callable[[Repo, str], None]


def configure(repo: Repo, *settings: tuple[str, str]) -> None:
    for name, value in settings:
        repo.git("config", name, value)


def hooks(repo: Repo, bomb: str) -> None:
    for name in (
        "post-index-change",
        "pre-commit",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        repo.write(f".git/hooks/{name}", f"#!/bin/sh\n{bomb}\n").chmod(0o755)


def hooks_path(repo: Repo, bomb: str) -> None:
    repo.write("tools/post-index-change", f"#!/bin/sh\n{bomb}\n").chmod(0o755)
    configure(repo, ("core.hooksPath", str(repo.path / "tools")))


def fsmonitor(repo: Repo, bomb: str) -> None:
    script = repo.write("monitor", f"#!/bin/sh\n{bomb}\n")
    script.chmod(0o755)
    configure(repo, ("core.fsmonitor", str(script)))


def external_diff(repo: Repo, bomb: str) -> None:
    configure(repo, ("diff.external", bomb), ("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"))


def textconv_and_driver(repo: Repo, bomb: str) -> None:
    configure(repo, ("diff.evil.textconv", bomb), ("diff.evil.command", bomb))
    repo.write(".gitattributes", "* diff=evil\n")
    repo.write(".git/info/attributes", "* diff=evil\n")


def filters(repo: Repo, bomb: str) -> None:
    configure(
        repo, ("filter.evil.clean", bomb), ("filter.evil.process", bomb), ("filter.evil.required", "true")
    )
    repo.write(".gitattributes", "* filter=evil\n")


def pager_editor_and_ssh(repo: Repo, bomb: str) -> None:
    configure(
        repo, ("core.pager", bomb), ("core.editor", bomb), ("core.sshCommand", bomb), ("core.askPass", bomb)
    )


def alias(repo: Repo, bomb: str) -> None:
    configure(
        repo, ("alias.add", f"!{bomb}"), ("alias.ls-files", f"!{bomb}"), ("alias.diff-tree", f"!{bomb}")
    )


def included_configuration(repo: Repo, bomb: str) -> None:
    repo.write("evil.cfg", f"[core]\n\tfsmonitor = {bomb}\n")
    configure(repo, ("include.path", "../evil.cfg"))


def other_work_tree(repo: Repo, bomb: str) -> None:
    configure(repo, ("core.worktree", "/tmp"), ("core.bare", "true"))


def nested_repository(repo: Repo, bomb: str) -> None:
    """A directory that the base tracks becomes a repository with a configuration of its own."""
    inner = Repo(repo.path / "dir")
    inner.git("init", "-q")
    configure(inner, ("core.fsmonitor", bomb))
    hooks(inner, bomb)


def fake_submodule(repo: Repo, bomb: str) -> None:
    inner = Repo(repo.path / "sub")
    inner.path.mkdir()
    inner.git("init", "-q")
    inner.write("x", "x")
    inner.commit("x")
    configure(inner, ("core.fsmonitor", bomb))
    repo.write(
        ".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n\tupdate = !' + bomb
    )


def git_file(repo: Repo, bomb: str) -> None:
    (repo.path / ".git").rename(repo.path / "elsewhere")
    configure(Repo(repo.path / "elsewhere"), ("core.fsmonitor", bomb))
    repo.write(".git", f"gitdir: {repo.path}/elsewhere\n")


def broken_git(repo: Repo, bomb: str) -> None:
    repo.write(".git/config", "[[[")
    repo.write(".git/HEAD", "nonsense")
    repo.write(".git/index", b"\0" * 50)


def blinded_index(repo: Repo, bomb: str) -> None:
    repo.git("update-index", "--assume-unchanged", "code.py")
    repo.git("update-index", "--skip-worktree", "dir/a")
    repo.write(".git/info/exclude", "*\n")
    repo.write(".git/info/sparse-checkout", "nothing\n")
    configure(repo, ("core.sparseCheckout", "true"), ("core.fileMode", "false"), ("core.autocrlf", "true"))
    configure(repo, ("core.excludesFile", str(repo.write("all", "*\n"))), ("status.showUntrackedFiles", "no"))


def rewritten_past(repo: Repo, bomb: str) -> None:
    """The base, as far as the agent's own store is concerned, already has the agent's change."""
    repo.write("code.py", "changed by the agent\n")
    new = repo.commit("Mine")
    repo.git("replace", "-f", "HEAD~1", new)
    repo.git("update-ref", "refs/heads/main", new)


def waiting_files(repo: Repo, bomb: str) -> None:
    for name in (".gitattributes", ".gitignore", "dir/.gitignore", "dir/.gitattributes"):
        (repo.path / name).unlink(missing_ok=True)
        os.mkfifo(repo.path / name)


def odd_encoding(repo: Repo, bomb: str) -> None:
    repo.write(".gitattributes", "* working-tree-encoding=UTF-16\n")


def unreadable(repo: Repo, bomb: str) -> None:
    (repo.path / "dir/a").chmod(0)
    (repo.path / "dir").chmod(0)


def names_git_refuses(repo: Repo, bomb: str) -> None:
    repo.write("git~1/config", "x")
    repo.write("dir/.git/config", f"[core]\n\tfsmonitor = {bomb}\n")
    repo.write("dir/.git/HEAD", "ref: refs/heads/main\n")


TRICKS: list[Trick] = [
    hooks, hooks_path, fsmonitor, external_diff, textconv_and_driver, filters, pager_editor_and_ssh, alias,
    included_configuration, other_work_tree, nested_repository, fake_submodule, git_file, broken_git,
    blinded_index, rewritten_past, waiting_files, odd_encoding, unreadable, names_git_refuses,
]  # fmt: skip


@pytest.mark.timeout(30)
@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_trick_neither_runs_nor_hides(
    trick: Trick, new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace], tmp_path: Path
) -> None:
    repo = new_repo("source")
    repo.write("code.py", "one\n")
    repo.write("dir/a", "a\n")
    workspace = prepare(repo.path, repo.commit("Base"))
    inside, mark = Repo(workspace.path), tmp_path / "executed"
    trick(inside, f"touch {mark}")
    mark.unlink(missing_ok=True)
    inside.write("code.py", "changed by the agent\n")
    inside.write("new.py", "new\n")
    patch = anyio.run(take_patch, workspace)
    assert not mark.exists()
    assert b"--- a/code.py\n+++ b/code.py\n@@ -1 +1 @@\n-one\n+changed by the agent\n" in patch.cleaned
    assert b"+++ b/new.py\n@@ -0,0 +1 @@\n+new\n" in patch.cleaned
    assert b"a/dir/a" not in patch.raw
    assert any("left aside" in notice for notice in patch.notices) == (trick is odd_encoding)


LIVE: list[Trick] = [
    hooks, hooks_path, fsmonitor, external_diff, textconv_and_driver, filters, included_configuration,
    git_file,
]  # fmt: skip


@pytest.mark.parametrize("trick", LIVE, ids=lambda trick: trick.__name__)
def test_trick_works_on_a_careless_git(
    trick: Trick, new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace], tmp_path: Path
) -> None:
    """Otherwise the test above would show nothing."""
    repo = new_repo("source")
    repo.write("code.py", "one\n")
    workspace = prepare(repo.path, repo.commit("Base"))
    inside, mark = Repo(workspace.path), tmp_path / "executed"
    trick(inside, f"touch {mark}")
    mark.unlink(missing_ok=True)
    inside.write("code.py", "changed by the agent\n")
    inside.git_or_not("diff")
    inside.git_or_not("add", "-A")
    assert mark.exists()


def test_planted_repository_in_a_real_submodule(
    new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace], tmp_path: Path
) -> None:
    library, repo = new_repo("library"), new_repo("source")
    library.write("x", "x")
    library.commit("Library")
    repo.write("code.py", "one\n")
    repo.git("submodule", "add", "-q", str(library.path), "lib")
    workspace = prepare(repo.path, repo.commit("Base"))
    inside, mark = Repo(workspace.path / "lib"), tmp_path / "executed"
    inside.git("init", "-q")
    inside.write("y", "y")
    inside.commit("Other")
    configure(inside, ("core.fsmonitor", f"touch {mark}"))
    inside.write("y", "changed")
    Repo(workspace.path).git_or_not("status")
    assert mark.exists()
    mark.unlink()
    (workspace.path / ".gitmodules").write_text(
        '[submodule "lib"]\n\tpath = lib\n\turl = x\n\tignore = none\n'
    )
    patch = anyio.run(take_patch, workspace)
    assert not mark.exists()
    assert b"lib" in patch.raw
    assert b"Subproject" not in patch.raw
    assert "submodule, its files are no part of the patch: lib" in patch.notices


def test_environment_of_the_runner_is_not_believed(
    new_repo: Callable[[str], Repo],
    prepare: Callable[..., Workspace],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A user's own variables and ~/.gitconfig do not change what is recorded."""
    repo = new_repo("source")
    repo.write("code.py", "one\n")
    commit = repo.commit("Base")
    (tmp_path / ".gitconfig").write_text("[diff]\n\tnoprefix = true\n[core]\n\tautocrlf = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in {
        "GIT_DIR": "/nowhere",
        "GIT_EXTERNAL_DIFF": f"touch {tmp_path}/executed",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.noprefix",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_INDEX_FILE": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    workspace = prepare(repo.path, commit)
    (workspace.path / "code.py").write_bytes(b"two\r\n")
    patch = anyio.run(take_patch, workspace)
    assert b"--- a/code.py\n+++ b/code.py\n@@ -1 +1 @@\n-one\n+two\r\n" in patch.raw
    assert not (tmp_path / "executed").exists()
