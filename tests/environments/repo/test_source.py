"""Where repositories come from: built histories and mirrors."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from clawbench.environments.repo import build_history, open_source
from clawbench.errors import InputError
from clawbench.tasks import BUNDLED, CodingTask, load_task
from tests.environments.repo.repositories import Repo

DIRECTORY = BUNDLED / "demo" / "001-coding-bugfix-strata"


def bundled() -> CodingTask:
    task = load_task(DIRECTORY)
    assert isinstance(task, CodingTask)
    return task


def test_bundled_history_is_always_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    first = anyio.run(build_history, DIRECTORY / "history", tmp_path / "a.git")
    second = anyio.run(build_history, DIRECTORY / "history", tmp_path / "b.git")
    assert first == second
    assert first["explain"] == bundled().base_commit == "5f61f835d63c9429123405b1c99ae9f6cc5b1618"


def test_bundled_history_has_a_past_and_a_future(tmp_path: Path) -> None:
    task = bundled()
    repo = Repo(anyio.run(open_source, task, tmp_path))
    past = repo.git("rev-list", task.base_commit).splitlines()
    future = repo.git("rev-list", "--all", f"^{task.base_commit}").splitlines()
    assert len(past) >= 10
    assert len(future) >= 3
    assert repo.git("tag", "--no-merged", task.base_commit) == "v0.3.2"
    assert repo.git("tag", "--merged", task.base_commit).split() == ["v0.1.0", "v0.2.0", "v0.3.0", "v0.3.1"]
    assert repo.git("branch", "--format=%(refname:short)").split() == ["main", "yaml-layers"]
    repo.git("fsck", "--strict")


def test_fix_commit_is_patch_and_test_patch(tmp_path: Path) -> None:
    task = bundled()
    built = anyio.run(build_history, DIRECTORY / "history", tmp_path / "a.git")
    repo = Repo(tmp_path / "a.git")
    diff = ("diff-tree", "-p", "-r", "--full-index", "--binary", built["explain"], built["fix"], "--")
    assert repo.git(*diff, "strata") == task.patch.strip()
    assert repo.git(*diff, "tests") == task.test_patch.strip()


def test_source_is_built_once_and_by_content(tmp_path: Path) -> None:
    copy = tmp_path / "suite" / "task"
    shutil.copytree(DIRECTORY, copy)
    task = load_task(copy)
    assert isinstance(task, CodingTask)
    first = anyio.run(open_source, task, tmp_path / "cache")
    stamp = first.stat().st_mtime_ns
    assert anyio.run(open_source, task, tmp_path / "cache") == first
    assert first.stat().st_mtime_ns == stamp
    history = copy / "history" / "history.json"
    history.write_text(history.read_text().replace("strata 0.3.1", "strata 0.3.1 again"))
    assert anyio.run(open_source, task, tmp_path / "cache") != first


@pytest.mark.parametrize("python", ["python3.11", "python3.12", "python3.13"])
def test_library_passes_its_own_tests_at_base_and_fix(python: str, tmp_path: Path) -> None:
    program = shutil.which(python)
    if program is None or subprocess.run([program, "-V"], capture_output=True, check=False).returncode:
        pytest.skip(f"{python} is not installed")
    task = bundled()
    source = anyio.run(open_source, task, tmp_path / "cache")
    subprocess.run(["git", "clone", "-q", source, tmp_path / "work"], check=True)
    for commit in (task.base_commit, "v0.3.2"):
        Repo(tmp_path / "work").git("checkout", "-q", commit)
        command = [program, "-B", "-W", "error", "-m", "unittest", "discover", "-t", ".", "-s", "tests"]
        done = subprocess.run(command, cwd=tmp_path / "work", capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


def broken_history(directory: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    shutil.copytree(DIRECTORY / "history", directory)
    content = json.loads((directory / "history.json").read_text())
    change(content)
    (directory / "history.json").write_text(json.dumps(content))
    return directory


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h: h["commits"][3].pop("message"), "commits.3.message"),
        (lambda h: h["commits"].pop(2), "'convert' cannot be built"),
        (lambda h: h["commits"][4].update(patch="12-explain.patch"), "'references' cannot be built"),
        (lambda h: h["commits"][4].update(patch="nowhere.patch"), "'references' cannot be built"),
        (lambda h: h["commits"][4].update(surprise=1), "surprise"),
        (lambda h: h.update(branches={"main": "nowhere"}), "nowhere"),
        (lambda h: h["tags"][0].update(commit="nowhere"), "nowhere"),
    ],
)
def test_broken_description_is_named(
    change: Callable[[dict[str, Any]], None], words: str, tmp_path: Path
) -> None:
    directory = broken_history(tmp_path / "history", change)
    with pytest.raises(InputError, match=words) as caught:
        anyio.run(build_history, directory, tmp_path / "x.git")
    assert "history.json" in str(caught.value)


@pytest.fixture
def mirror(new_repo: Callable[[str], Repo]) -> Repo:
    repo = new_repo("mirror")
    repo.write("a", "a\n")
    repo.commit("One")
    repo.write("a", "b\n")
    repo.commit("Two")
    return repo


def test_mirror_may_be_a_clone_a_bare_one_or_a_worktree(
    mirror: Repo, make_task: Callable[..., CodingTask], tmp_path: Path
) -> None:
    base = mirror.git("rev-parse", "HEAD")
    mirror.git("clone", "-q", "--mirror", str(mirror.path), str(tmp_path / "bare.git"))
    mirror.git("worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    for place in ("mirror", str(tmp_path / "bare.git"), "other"):
        source = anyio.run(open_source, make_task(Path(place), base), tmp_path / "cache")
        assert (source / "HEAD").is_file()


@pytest.mark.parametrize("place", ["bare.git", "other"])
def test_workspace_can_be_made_from_each(
    place: str, mirror: Repo, prepare: Callable[..., Any], tmp_path: Path
) -> None:
    base = mirror.git("rev-parse", "HEAD")
    mirror.git("clone", "-q", "--mirror", str(mirror.path), str(tmp_path / "bare.git"))
    mirror.git("worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    assert prepare(tmp_path / place, base).proof.holds


def test_repository_with_sha256_ids(tmp_path: Path, prepare: Callable[..., Any]) -> None:
    (tmp_path / "modern").mkdir()
    repo = Repo(tmp_path / "modern")
    repo.git("init", "-q", "--object-format=sha256")
    repo.write("a", "a\n")
    workspace = prepare(repo.path, repo.commit("One"))
    assert workspace.proof.holds
    assert Repo(workspace.path).git("status", "--porcelain") == ""


def refusal(task: CodingTask, cache: Path) -> str:
    with pytest.raises(InputError) as caught:
        anyio.run(open_source, task, cache)
    return str(caught.value)


def test_unusable_mirrors_are_named(
    mirror: Repo, make_task: Callable[..., CodingTask], tmp_path: Path
) -> None:
    base = mirror.git("rev-parse", "HEAD")
    assert "is not a git repository" in refusal(make_task(tmp_path / "nowhere", base), tmp_path)
    assert "is not in" in refusal(make_task(mirror.path, "1" * 40), tmp_path)
    tree = mirror.git("rev-parse", "HEAD^{tree}")
    assert "is not in" in refusal(make_task(mirror.path, tree), tmp_path)
    mirror.git("clone", "-q", "--depth=1", f"file://{mirror.path}", str(tmp_path / "shallow"))
    assert "shallow" in refusal(make_task(tmp_path / "shallow", base), tmp_path)
