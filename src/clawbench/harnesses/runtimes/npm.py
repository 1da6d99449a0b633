"""One npm package and what it depends on. No install scripts are run but one that the part asks for: native
programs are packages too."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from clawbench.harnesses.runtimes.installed import InstalledPart
from clawbench.harnesses.runtimes.locks import npm_lock
from clawbench.harnesses.runtimes.parts import NpmPart
from clawbench.harnesses.runtimes.tooling import InstallError, Say, Sources, run_tool

NPM = "lib/node_modules/npm/bin/npm-cli.js"
_OPTIONS = (
    "--ignore-scripts",
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
)
_RECORD = "node_modules/.package-lock.json"


def install_npm(
    part: NpmPart, target: Path, node: InstalledPart, sources: Sources, say: Say
) -> tuple[list[str], bool]:
    """What was resolved, and whether it is what the lock says."""
    wanted = {"private": True, "dependencies": {part.package: part.version}}
    (target / "package.json").write_text(json.dumps(wanted) + "\n", encoding="utf-8")
    lock = _install_packages(part, target, node, sources, say)
    if part.has_install_script:
        run_npm(node, ["rebuild", part.package, "--loglevel=error"], target, _remedy(part, sources))
    packages = _named(target / _RECORD)
    _check_version(part, target)
    # Both may name the registry of this machine.
    (target / "package-lock.json").unlink(missing_ok=True)
    (target / _RECORD).unlink()
    return sorted(packages), lock is not None and packages <= _named(lock)


def _install_packages(
    part: NpmPart, target: Path, node: InstalledPart, sources: Sources, say: Say
) -> Path | None:
    """The lock that was followed. `npm ci` would refuse one that was made with a registry which lacks
    optional packages of other platforms; `install` keeps to the lock, too."""
    command, remedy, lock = ["install", *_OPTIONS, *_offline(sources)], _remedy(part, sources), npm_lock(part)
    say(f"fetching {part.package} with npm")
    if lock is not None:
        shutil.copyfile(lock, target / "package-lock.json")
        try:
            run_npm(node, command, target, remedy)
        except InstallError:
            if sources.npm_cache is None:
                raise
            say("the npm cache does not hold the locked versions; taking what fits from it")
            (target / "package-lock.json").unlink()
        else:
            return lock
    run_npm(node, command, target, remedy)
    return None


def run_npm(node: InstalledPart, words: list[str], directory: Path, remedy: str) -> str:
    path = f"{node.path('bin')}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return run_tool(
        [node.path("bin/node"), node.path(NPM), *words], remedy, env={"PATH": path}, cwd=directory
    )


def _offline(sources: Sources) -> list[str]:
    return [] if sources.npm_cache is None else ["--offline", "--cache", str(sources.npm_cache.absolute())]


def _remedy(part: NpmPart, sources: Sources) -> str:
    if sources.npm_cache is not None:
        wanted = f"{part.package}@{part.version}"
        return f"Fill the cache where there is a network: `npm install --cache DIR {wanted}`"
    return "Is the version right, and the npm registry reachable? Without a network give --npm-cache DIR"


def _named(record: Path) -> set[str]:
    """`name==version` of every package that npm has written down."""
    packages: dict[str, dict[str, str]] = json.loads(record.read_text(encoding="utf-8"))["packages"]
    return {
        f"{path.rpartition('node_modules/')[2]}=={entry['version']}"
        for path, entry in packages.items()
        if path
    }


def _check_version(part: NpmPart, target: Path) -> None:
    told = json.loads((target / "node_modules" / part.package / "package.json").read_text(encoding="utf-8"))
    if told.get("version") != part.version:
        raise InstallError(
            f"npm installed {part.package} {told.get('version')}, not {part.version}. Please report it"
        )
