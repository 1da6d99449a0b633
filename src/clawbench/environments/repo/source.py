"""Where a coding task's repository comes from. Trusted side only: a source holds the future too."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

import anyio

from clawbench.environments.repo.git import GitError, Repository
from clawbench.environments.repo.history import build_history, import_history
from clawbench.errors import InputError
from clawbench.tasks import CodingTask


async def open_source(task: CodingTask, cache: Path) -> Path:
    """The git directory of a local repository that contains the task's base commit."""
    if task.repo_source.history is not None:
        source = await _built(task.directory / task.repo_source.history, cache)
    else:
        source = _mirrored(task)
    await _require_complete(task, source)
    return source


async def _built(description: Path, cache: Path) -> Path:
    target = cache / "histories" / f"{await anyio.to_thread.run_sync(_fingerprint, description)}.git"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building-") as scratch:
        building = Path(scratch) / "repo.git"
        build = build_history if description.is_dir() else import_history
        await build(description, building)
        try:
            building.rename(target)
        except OSError:
            # Another run has built the same history meanwhile.
            if not target.exists():
                raise
            shutil.rmtree(building)
    return target


def _fingerprint(description: Path) -> str:
    if description.is_file():
        return hashlib.sha256(description.read_bytes()).hexdigest()[:24]
    digest = hashlib.sha256()
    for file in sorted(path for path in description.rglob("*") if path.is_file()):
        name, data = str(file.relative_to(description)).encode(), file.read_bytes()
        digest.update(b"%d %d " % (len(name), len(data)) + name + data)
    return digest.hexdigest()[:24]


def _mirrored(task: CodingTask) -> Path:
    assert task.repo_source.mirror is not None
    path = (task.directory / Path(task.repo_source.mirror).expanduser()).resolve()
    inner = path / ".git"
    if inner.is_file():
        inner = path / inner.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    for candidate in (path, inner):
        if (candidate / "HEAD").is_file():
            return candidate
    raise InputError(
        f"{path} is not a git repository",
        file=task.directory / "task.json",
        field="repo_source.mirror",
        remedy="Give a local clone or a bare mirror (`git clone --mirror`)",
    )


async def _require_complete(task: CodingTask, source: Path) -> None:
    repository = Repository(source)
    try:
        kind = await repository.line("cat-file", "-t", task.base_commit)
        shallow = await repository.line("rev-parse", "--is-shallow-repository")
    except GitError as error:
        kind, shallow = error.stderr, "false"
    if kind != "commit":
        raise InputError(
            f"commit {task.base_commit} is not in {source} ({kind})",
            file=task.directory / "task.json",
            field="base_commit",
            remedy="Correct the id, or fetch the commit into the repository",
        )
    config = (source / "config").read_text(errors="replace") if (source / "config").is_file() else ""
    if shallow == "true" or "partialclone" in config.lower():
        raise InputError(
            f"{source} is a shallow or partial clone: history up to the base commit is not all there",
            file=task.directory / "task.json",
            field="repo_source",
            remedy="Use a full clone (`git fetch --unshallow`, or `git clone --mirror` without --filter)",
        )
