"""`clawbench harness install`, `verify` and `remove`: the programs of harnesses in the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clawbench.cli.console import err, out
from clawbench.cli.progress import shown_steps
from clawbench.errors import ClawbenchError, InputError
from clawbench.harnesses import Harness, get_harness, harness_names
from clawbench.harnesses.runtimes.installed import part_directory
from clawbench.harnesses.runtimes.installing import Installer, changes
from clawbench.harnesses.runtimes.inventory import directories_of, installed_versions, parts_of, remove
from clawbench.harnesses.runtimes.manifest import Manifest, read_manifest
from clawbench.harnesses.runtimes.parts import Part
from clawbench.harnesses.runtimes.tooling import Sources
from clawbench.places import cache_directory

Names = Annotated[list[str] | None, typer.Argument(metavar="NAME[@VERSION]", show_default=False)]
_SHOWN_CHANGES = 20


def install(
    names: Names = None,
    every: Annotated[
        bool, typer.Option("--all", help="Install every harness at its default version.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Make anew what is already there.")] = False,
    wheelhouse: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Take Python packages and Node from the wheels in DIR; no index is asked."
        ),
    ] = None,
    npm_cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take npm packages from this npm cache; no registry is asked."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A clone or tree of a harness that is published as source only."),
    ] = None,
) -> None:
    """Install the programs of harnesses into the cache; verify them where they are there already.

    Each is pinned with all it depends on. The cache (`~/.cache/clawbench/runtimes`, or below
    CLAWBENCH_CACHE) is mounted read-only into sandboxes. Packages come from the indexes that uv, npm and
    cargo are set up for.
    """
    for option, path in (("--wheelhouse", wheelhouse), ("--npm-cache", npm_cache), ("--source", source)):
        if path is not None and not path.is_dir():
            raise InputError(f"{path} is no directory", field=option, remedy="Give one that exists")
    sources = Sources(wheelhouse and wheelhouse.absolute(), npm_cache, source)
    chosen = _chosen(names, every)
    failures = [name for name, harness in chosen.items() if not _install(harness, sources, force, every)]
    if failures:
        raise ClawbenchError(f"not installed: {', '.join(failures)} (see above)")


def verify(
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="Verify every harness that is installed.")] = False,
) -> None:
    """Compare the installed files with what was recorded, and name what differs."""
    chosen = _chosen(names, every)
    found = {name: _verify(harness, every) for name, harness in chosen.items()}
    damaged = [name for name, is_whole in found.items() if not is_whole]
    if damaged:
        raise ClawbenchError(
            f"not as installed: {', '.join(damaged)}. Run `clawbench harness install {damaged[0]}`"
        )


def remove_harness(names: Names = None) -> None:
    """Remove the programs of harnesses from the cache, but for what other installed harnesses use."""
    chosen = list(_chosen(names, every=False).values())
    for harness in chosen:
        _check_is_there(harness)
    for harness in chosen:
        with shown_steps(harness.name) as say:
            removed, kept = remove(harness, cache_directory(), say)
        for path in removed:
            out.print(f"{path.name}  removed", highlight=False)
        for path in kept:
            out.print(f"{path.name}  kept: another harness uses it", highlight=False)


def _check_is_there(harness: Harness) -> None:
    """What an interrupted installation left counts."""
    parts, cache = parts_of(harness), cache_directory()
    if not parts:
        raise InputError(
            f"{harness.name} is part of Clawbench: there is nothing to remove",
            field="NAME",
            remedy="`clawbench harness list` shows what is installed",
        )
    if not part_directory(cache, parts[0]).exists():
        there = [f"{harness.name}@{version}" for version in installed_versions(harness, cache)]
        raise InputError(
            f"{harness.name} {harness.version} is not installed",
            field="NAME",
            remedy=f"Installed: {', '.join(there) or f'no version of {harness.name}'}",
        )


def _chosen(names: list[str] | None, every: bool) -> dict[str, Harness]:
    if bool(names) == every:
        raise InputError("no harness named", field="NAME", remedy="Name harnesses, or all with --all")
    return {name: get_harness(name) for name in (names or harness_names())}


def _install(harness: Harness, sources: Sources, force: bool, go_on: bool) -> bool:
    parts = parts_of(harness)
    if not parts and not go_on:
        out.print(f"{harness.name} is part of Clawbench: there is nothing to install", highlight=False)
    try:
        for part in parts:
            _install_part(part, sources, force)
    except ClawbenchError as error:
        if not go_on:
            raise
        err.print(f"{harness.name}: {error}", markup=False, highlight=False, soft_wrap=True)
        return False
    return True


def _install_part(part: Part, sources: Sources, force: bool) -> None:
    cache = cache_directory()
    with shown_steps(f"{part.name} {part.version}") as say:
        done = Installer(cache, sources, say).install(part, force=force)
    manifest = read_manifest(part_directory(cache, part))
    out.print(f"{part.name} {part.version}  {done.value}{_facts(manifest)}", highlight=False, soft_wrap=True)


def _facts(manifest: Manifest | None) -> str:
    if manifest is None:
        return ""
    return f"  {manifest.size / 1e6:.0f} MB, {len(manifest.packages)} packages, {manifest.content_hash[:19]}…"


def _verify(harness: Harness, only_present: bool) -> bool:
    is_whole = True
    for path in directories_of(harness, cache_directory()) if parts_of(harness) else ():
        manifest = read_manifest(path)
        if manifest is None and only_present:
            continue
        found = ["it is not installed"] if manifest is None else changes(path, manifest)
        is_whole = is_whole and not found
        out.print(f"{path.name}  {'differs' if found else 'as installed'}", highlight=False, soft_wrap=True)
        for line in found[:_SHOWN_CHANGES]:
            out.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
        if len(found) > _SHOWN_CHANGES:
            out.print(f"  … and {len(found) - _SHOWN_CHANGES} more", highlight=False)
    return is_whole
