"""A task's environment: the packages its recipe names, and the repository installed at its base commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clawbench.environments.repo.setup.installing import Installation
from clawbench.environments.repo.setup.keeping import building, fingerprint, finish, kept
from clawbench.environments.repo.setup.packages import Installer, make_environment
from clawbench.environments.repo.setup.pythons import find_python
from clawbench.sandbox import Mount, Sandbox
from clawbench.sandbox.interpreter import interpreter_tree
from clawbench.tasks import CodingTask
from clawbench.tasks.setup import Setup

_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class TestEnvironment:
    """What tests run on, mounted read-only where it is on the host: environments cannot be moved."""

    __test__ = False

    python: str
    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    products: Path | None = None
    """Files that installing the base commit left in its tree, for every checkout of it."""
    notices: tuple[str, ...] = ()

    @property
    def search_path(self) -> list[str]:
        """Where its programs are."""
        return [part for part in self.env.get("PATH", "").split(":") if part and part not in _SYSTEM_PATH]


async def prepare_environment(
    task: CodingTask, source: Path, cache: Path, open_sandbox: Callable[..., Sandbox]
) -> TestEnvironment | None:
    """The environment of the task, made or found; None where the task has no recipe."""
    setup = task.setup
    if setup is None:
        return None
    interpreter = find_python(setup.python)
    packages, notices = await _packages(setup, interpreter, cache)
    directories = [packages]
    products = None
    if setup.install:
        installed = await Installation(task, setup, packages, interpreter, open_sandbox).make(source, cache)
        directories.insert(0, installed.directory)
        products, notices = installed.products, [*notices, *installed.notices]
    trees = [tree for tree in [interpreter_tree(interpreter.resolve()), *directories] if tree is not None]
    path = ":".join([*(f"{directory}/bin" for directory in directories), _SYSTEM_PATH])
    return TestEnvironment(
        python=str(directories[0] / "bin" / "python"),
        mounts=tuple(Mount(tree, str(tree)) for tree in trees),
        env={"PATH": path, **setup.env},
        products=products,
        notices=tuple(notices),
    )


async def _packages(setup: Setup, interpreter: Path, cache: Path) -> tuple[Path, list[str]]:
    """The environment with the recipe's requirements, shared by all tasks that have the same."""
    about = setup.model_dump(include={"requirements", "pinned", "newest"}) | {"python": str(interpreter)}
    directory = cache / "environments" / fingerprint(about)
    async with building(directory) as missing:
        if missing:
            await make_environment(interpreter, directory)
            left_out = await Installer(directory, setup).install_all()
            finish(directory, {"about": about, "notices": left_out})
    return directory, list(kept(directory)["notices"])
