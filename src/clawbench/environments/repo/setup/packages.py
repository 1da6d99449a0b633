"""Installing a recipe's requirements into a virtual environment, by uv where there is one, else by pip."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anyio

from clawbench.errors import EnvironmentFailedError, MissingPartError
from clawbench.extras import install_line
from clawbench.tasks.setup import Setup

_TIME_LIMIT_S = 1800.0
_BASICS = ("setuptools", "wheel", "pip")
"""Needed to install the repository itself without a network."""


@dataclass(frozen=True)
class Installer:
    """Puts packages into the environment at `directory`."""

    directory: Path
    setup: Setup

    @property
    def python(self) -> Path:
        return self.directory / "bin" / "python"

    async def install_all(self) -> list[str]:
        """Install every requirement; returns what had to be left out, and why."""
        wanted = [*self._basics(), *self.setup.requirements]
        if await self._install(wanted) is None:
            return []
        left_out = []
        for requirement in wanted:
            problem = await self._install([requirement])
            if problem is not None:
                left_out.append(f"{requirement} cannot be installed: {problem[-300:]}")
        if len(left_out) == len(wanted):
            raise EnvironmentFailedError(f"no package can be installed; the first: {left_out[0]}")
        return left_out

    async def install(self, requirements: list[str]) -> str | None:
        """Install more, with what they depend on, as the recipe pins it; what went wrong, or None."""
        asked = [*self._program(), *self._era(), *requirements]
        if not self.setup.pinned:
            return await _run(asked)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
            pins.write("\n".join(self.setup.requirements))
            pins.flush()
            problem = await _run([*asked, "-c", pins.name])
        return problem and await _run(asked)

    def _basics(self) -> list[str]:
        named = {requirement.split("==")[0].split("<")[0].lower() for requirement in self.setup.requirements}
        return [name for name in _BASICS if name not in named]

    async def _install(self, requirements: list[str]) -> str | None:
        exact = ["--no-deps"] if self.setup.pinned else []
        return await _run([*self._program(), *exact, *self._era(), *requirements])

    def _program(self) -> list[str]:
        uv = shutil.which("uv")
        if uv is not None:
            return [uv, "pip", "install", "-q", "--python", str(self.python)]
        return [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]

    def _era(self) -> list[str]:
        if self.setup.newest is None:
            return []
        if shutil.which("uv") is None:
            raise MissingPartError(
                "uv", "it leaves out packages newer than the task", f"`{install_line('uv')}`"
            )
        return ["--exclude-newer", self.setup.newest]


async def make_environment(python: Path, directory: Path, *, bare: bool = False) -> None:
    problem = await _run([str(python), "-m", "venv", *(["--without-pip"] if bare else []), str(directory)])
    if problem is not None:
        raise EnvironmentFailedError(f"{python} makes no virtual environment: {problem}")


async def _run(argv: list[str]) -> str | None:
    """What a program that failed had to say; None where it did not fail."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    inherited.pop("VIRTUAL_ENV", None)
    with anyio.move_on_after(_TIME_LIMIT_S):
        done = await anyio.run_process(argv, env=inherited, check=False)
        return None if done.returncode == 0 else (done.stderr or done.stdout).decode(errors="replace").strip()
    return f"no end after {_TIME_LIMIT_S:.0f} s"
