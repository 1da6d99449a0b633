"""The repository itself, installed editable at its base commit: in a sandbox, without network."""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clawbench.environments.repo.git import Repository
from clawbench.environments.repo.setup.keeping import building, fingerprint, finish, kept
from clawbench.environments.repo.setup.needs import needs_of_installed
from clawbench.environments.repo.setup.packages import Installer, make_environment
from clawbench.errors import EnvironmentFailedError
from clawbench.sandbox import Command, Limits, Mount, Sandbox
from clawbench.sandbox.interpreter import interpreter_tree
from clawbench.tasks import CodingTask
from clawbench.tasks.setup import Setup

CHECKOUT = "/testbed"
_TIME_LIMIT_S = 1800.0
_PASSING = ("__pycache__", "build")
"""Directories an installation leaves in a tree that nothing needs afterwards."""


@dataclass(frozen=True)
class Installed:
    directory: Path
    """A virtual environment over the one with the packages."""
    products: Path
    notices: list[str]


@dataclass(frozen=True)
class Installation:
    """One base commit, installed over an environment of packages."""

    task: CodingTask
    setup: Setup
    packages: Path
    interpreter: Path
    open_sandbox: Callable[..., Sandbox]

    async def make(self, source: Path, cache: Path) -> Installed:
        about = self.setup.model_dump() | {"commit": self.task.base_commit, "packages": str(self.packages)}
        directory = cache / "environments" / f"{fingerprint(about)}-installed"
        async with building(directory) as missing:
            if missing:
                await make_environment(self.interpreter, directory, bare=True)
                self._put_over_packages(directory)
                with tempfile.TemporaryDirectory(dir=cache, prefix=".installing-") as scratch:
                    notices = await self._install(directory, source, Path(scratch))
                finish(directory, {"about": about, "notices": notices})
        return Installed(directory, directory / "products", list(kept(directory)["notices"]))

    def _put_over_packages(self, directory: Path) -> None:
        (below,) = self.packages.glob("lib/python3*/site-packages")
        (own,) = directory.glob("lib/python3*/site-packages")
        (own / "_packages.pth").write_text(f"import site; site.addsitedir({str(below)!r})\n")

    async def _install(self, directory: Path, source: Path, scratch: Path) -> list[str]:
        checkout = scratch / "checkout"
        checkout.mkdir()
        tracked = await _check_out(source, self.task.base_commit, checkout, scratch / "index")
        installer = Installer(directory, self.setup)
        problems = [await installer.install(needs)] if (needs := _build_requirements(checkout)) else []
        await self._run_in_sandbox(directory, checkout, scratch)
        if wanted := sorted(needs_of_installed(directory, checkout, self.setup.extras)):
            problems.append(await installer.install(wanted))
        _keep_products(checkout, tracked, directory / "products")
        return [f"of what {self.task.repo} asks for: {problem[-300:]}" for problem in problems if problem]

    async def _run_in_sandbox(self, directory: Path, checkout: Path, scratch: Path) -> None:
        home = scratch / "home"
        home.mkdir()
        trees = [tree for tree in (interpreter_tree(self.interpreter.resolve()), self.packages) if tree]
        sandbox = self.open_sandbox(
            home=home,
            mounts=[
                *(Mount(tree, str(tree)) for tree in trees),
                Mount(directory, str(directory), writable=True),
                Mount(checkout, CHECKOUT, writable=True),
            ],
        )
        install = "pip install -q --no-index --no-deps --no-build-isolation --disable-pip-version-check"
        lines = [*self.setup.prepare, f"python -m {install} -e ."]
        try:
            process = await sandbox.start(
                Command(
                    argv=["/bin/sh", "-ec", "\n".join(lines)],
                    env={
                        "PATH": f"{directory}/bin:{self.packages}/bin:/usr/local/bin:/usr/bin:/bin",
                        **self.setup.env,
                    },
                    cwd=sandbox.inside(CHECKOUT),
                    stdout=scratch / "stdout",
                    stderr=scratch / "stderr",
                    limits=Limits(time_s=_TIME_LIMIT_S),
                )
            )
            ended = await process.wait()
        finally:
            await sandbox.close()
        if ended.exit_code:
            said = "".join(
                (scratch / name).read_text(errors="replace")[-1500:] for name in ("stdout", "stderr")
            )
            raise EnvironmentFailedError(f"{self.task.id}: the repository cannot be installed: {said}")


async def _check_out(source: Path, commit: str, target: Path, index: Path) -> frozenset[str]:
    repository = Repository(source, target, index)
    await repository.run("read-tree", "-m", "-u", commit)
    listed = await repository.run("ls-tree", "-r", "-z", "--name-only", commit)
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0"))


def _build_requirements(checkout: Path) -> list[str]:
    file = checkout / "pyproject.toml"
    if not file.is_file():
        return []
    try:
        wanted = tomllib.loads(file.read_text(encoding="utf-8")).get("build-system", {}).get("requires", [])
    except ValueError:
        return []
    return [str(entry) for entry in wanted]


def _keep_products(checkout: Path, tracked: frozenset[str], target: Path) -> None:
    target.mkdir()
    for parent, directories, files in os.walk(checkout):
        directories[:] = [name for name in directories if name not in _PASSING]
        for file in (Path(parent, name) for name in files):
            relative = file.relative_to(checkout)
            if str(relative) not in tracked and not file.is_symlink():
                (target / relative).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target / relative)
