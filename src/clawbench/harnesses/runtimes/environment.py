"""Python packages in an environment of their own, on an interpreter that is carried along."""

from __future__ import annotations

import re
from pathlib import Path

from clawbench.harnesses.runtimes.installed import InstalledPart
from clawbench.harnesses.runtimes.locks import python_lock, requirements
from clawbench.harnesses.runtimes.parts import PythonPart, SourcePart
from clawbench.harnesses.runtimes.tooling import InstallError, Say, Sources, uv
from clawbench.harnesses.runtimes.wheels import index_options, wheel_remedy

_BYTECODE = {"PYC_INVALIDATION_MODE": "UNCHECKED_HASH"}
"""Always the same bytes, and never looked at twice: the files are read-only in a sandbox."""


def install_environment(
    part: PythonPart | SourcePart, target: Path, interpreter: InstalledPart, sources: Sources, say: Say
) -> tuple[list[str], bool]:
    """What was resolved, and whether it is what the lock says."""
    say("making a Python environment")
    python = target / "venv/bin/python"
    base = interpreter.path(f"bin/python{'.'.join(interpreter.version.split('.')[:2])}")
    uv("venv", "--quiet", "--no-project", "--python", base, target / "venv", remedy="Please report it")
    locked = _install_packages(part, python, sources, say)
    packages = uv("pip", "freeze", "--python", python, remedy="Please report it").split()
    _check_version(part, packages)
    return sorted(packages), locked


def _install_packages(part: PythonPart | SourcePart, python: Path, sources: Sources, say: Say) -> bool:
    lock = python_lock(part)
    if lock is not None:
        say("fetching the locked Python packages")
        try:
            _install(
                python,
                ["--require-hashes", "-r", str(lock)],
                sources,
                wheel_remedy(f"what {lock} lists", sources),
            )
        except InstallError:
            if sources.wheelhouse is None:
                raise
            say("the wheelhouse does not hold the locked versions; taking what fits from it")
        else:
            return True
    wanted = requirements(part)
    say("fetching Python packages")
    if wanted:
        _install(python, wanted, sources, wheel_remedy(" ".join(wanted), sources))
    return False


def _install(python: Path, what: list[str], sources: Sources, remedy: str) -> None:
    options = ("--quiet", "--link-mode", "copy", "--compile-bytecode", "--python", python)
    uv("pip", "install", *options, *index_options(sources), *what, remedy=remedy, env=_BYTECODE)


def _check_version(part: PythonPart | SourcePart, packages: list[str]) -> None:
    if isinstance(part, PythonPart):
        name = re.sub(r"\[.*\]", "", part.package)
        if f"{name}=={part.version}".lower().replace("_", "-") not in [
            p.lower().replace("_", "-") for p in packages
        ]:
            raise InstallError(f"{name} {part.version} is not among what was installed. Please report it")
