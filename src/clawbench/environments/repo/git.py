"""Git as the trusted side runs it: no configuration, hook, filter or variable but our own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from clawbench.errors import EnvironmentFailedError, MissingPartError

TIME_LIMIT_S = 1800.0
"""No single git command takes longer, not even on the largest histories."""

_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.commitGraph": "false",
    "core.multiPackIndex": "false",
    "core.untrackedCache": "false",
    "core.logAllRefUpdates": "false",
    "checkout.workers": "0",  # as many as there are cores
    "pack.compression": "1",  # what is not copied as it is: twice as fast, a hundredth larger
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "all",
    "advice.graftFileDeprecated": "false",
}
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class GitError(EnvironmentFailedError):
    """A git command failed."""

    def __init__(self, arguments: tuple[str, ...], exit_code: int, stderr: bytes) -> None:
        self.exit_code = exit_code
        self.stderr = stderr.decode(errors="replace").strip()
        super().__init__(f"`git {' '.join(arguments)[:200]}` ended with {exit_code}: {self.stderr[-2000:]}")


@dataclass(frozen=True)
class Repository:
    """A git directory with, where a command needs them, a work tree and an index."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None

    async def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """What the command prints; GitError where it fails."""
        with anyio.move_on_after(TIME_LIMIT_S):
            done = await anyio.run_process(
                command_line(*arguments),
                input=stdin,
                cwd=self.work_tree or self.git_dir,
                env={**self.environment(), **(env or {})},
                check=False,
            )
            if done.returncode:
                raise GitError(arguments, done.returncode, done.stderr)
            return done.stdout
        raise GitError(arguments, -1, f"no end after {TIME_LIMIT_S:.0f} s".encode())

    async def line(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        return (await self.run(*arguments, stdin=stdin, env=env)).decode().strip()

    async def pack_into(self, commit: str, objects: Path) -> None:
        """Put everything that `commit` reaches, and nothing else, as one pack into another repository.

        Git writes the pack within its own repository first, so this one must be ours to write.
        """
        target = objects / "pack" / "pack"
        options = ("--revs", "--delta-base-offset", "--window=0", "-q")
        await self.run("pack-objects", *options, str(target), stdin=f"{commit}\n".encode())

    def environment(self) -> dict[str, str]:
        places = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.work_tree, "GIT_INDEX_FILE": self.index}
        inherited = {"PATH": os.environ.get("PATH", os.defpath)}
        return inherited | _ENVIRONMENT | {name: str(path) for name, path in places.items() if path}


def command_line(*arguments: str) -> list[str]:
    program = shutil.which("git")
    if program is None:
        raise MissingPartError("git", "coding tasks are git repositories", "`apt-get install git`")
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    return [program, *settings, *arguments]


def object_format(commit: str) -> str:
    return "sha1" if len(commit) == 40 else "sha256"


async def create_bare(path: Path, commit: str, *, borrow_from: Path | None = None) -> Repository:
    """An empty bare repository; with `borrow_from` it can read, not write, that one's objects."""
    path.mkdir(parents=True)
    repository = Repository(path)
    await repository.run("init", "-q", "--bare", "--template=", f"--object-format={object_format(commit)}")
    if borrow_from is not None:
        alternates = path / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_bytes(os.fsencode(objects_directory(borrow_from)) + b"\n")
    return repository


def objects_directory(git_dir: Path) -> Path:
    common = git_dir / "commondir"
    base = git_dir / common.read_text(encoding="utf-8").strip() if common.is_file() else git_dir
    return (base / "objects").resolve()
