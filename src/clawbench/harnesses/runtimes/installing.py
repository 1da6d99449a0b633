"""Installing a part into the cache: once, by one at a time, and counted only when it is whole."""

from __future__ import annotations

import contextlib
import fcntl
import platform
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from clawbench.errors import ClawbenchError
from clawbench.harnesses.runtimes.cargo import install_cargo
from clawbench.harnesses.runtimes.contents import (
    MANIFEST,
    differences,
    hash_of,
    list_contents,
    open_modes,
    size_of,
)
from clawbench.harnesses.runtimes.environment import install_environment
from clawbench.harnesses.runtimes.installed import InstalledPart, part_directory, read_part
from clawbench.harnesses.runtimes.interpreter import find_interpreter, fits, install_interpreter
from clawbench.harnesses.runtimes.manifest import Manifest, read_listing, read_manifest, write_manifest
from clawbench.harnesses.runtimes.node import install_node
from clawbench.harnesses.runtimes.npm import install_npm
from clawbench.harnesses.runtimes.parts import (
    NODE,
    CargoPart,
    InterpreterPart,
    NodePart,
    NpmPart,
    Part,
    PythonPart,
    SourcePart,
    check_version,
)
from clawbench.harnesses.runtimes.source import install_source
from clawbench.harnesses.runtimes.tooling import InstallError, Say, Sources


class Done(StrEnum):
    """What an installation came to."""

    INSTALLED = "installed"
    INTACT = "already there, verified"
    RENEWED = "was damaged, installed anew"


@dataclass(frozen=True)
class Made:
    """What installing one kind of part has found out."""

    requested: str
    packages: Sequence[str]
    locked: bool = False
    needs: Sequence[str] = ()


@dataclass
class Installer:
    cache: Path
    sources: Sources = field(default_factory=Sources)
    say: Say = lambda _: None

    def install(self, part: Part, *, force: bool = False) -> Done:
        """Bring the part into the cache; what is there already is verified instead."""
        check_version(part)
        target = part_directory(self.cache, part)
        with only_one(target, self.say):
            before = read_manifest(target)
            if before is not None and not force:
                self.say("verifying")
                if not changes(target, before) and self._stands(before):
                    return Done.INTACT
            self._make(part, target)
            return Done.RENEWED if before is not None and not force else Done.INSTALLED

    def _stands(self, manifest: Manifest) -> bool:
        """Whether all that the part needs is there."""
        return all(read_part(self.cache / "runtimes" / name) for name in manifest.needs)

    def _make(self, part: Part, target: Path) -> None:
        started = time.monotonic()
        wipe(target)
        try:
            target.mkdir(parents=True)
            made = self._make_kind(part, target)
            self.say("recording what was installed")
            open_modes(target)
            listing = list_contents(target)
            write_manifest(target, self._manifest(part, target, made, listing, started), listing)
        except OSError as error:
            wipe(target)
            raise InstallError(f"{part.name}: {error}. Is there room in {self.cache}?") from error
        except BaseException:
            wipe(target)
            raise

    def _manifest(
        self, part: Part, target: Path, made: Made, listing: Sequence[str], started: float
    ) -> Manifest:
        return Manifest(
            name=part.name,
            version=part.version,
            kind=type(part).__name__.removesuffix("Part").lower(),
            requested=made.requested,
            locked=made.locked,
            packages=made.packages,
            needs=made.needs,
            content_hash=hash_of(listing),
            size=size_of(target),
            installed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 1),
            platform=f"{platform.system()}-{platform.machine()}".lower(),
        )

    def _make_kind(self, part: Part, target: Path) -> Made:
        match part:
            case NodePart():
                packages, locked = install_node(part, target, self.sources, self.say)
                return Made(f"node {part.version}", packages, locked)
            case NpmPart():
                packages, locked = install_npm(part, target, self._node(), self.sources, self.say)
                return Made(f"{part.package}@{part.version}", packages, locked)
            case PythonPart() | SourcePart():
                return self._make_environment(part, target)
            case CargoPart():
                packages = install_cargo(part, target, self.say)
                return Made(f"{part.crate}@{part.version}", packages, locked=True)
            case InterpreterPart():
                found = find_interpreter(f"=={part.version}")
                return Made(f"python {part.version}", install_interpreter(part, target, found, self.say))

    def _make_environment(self, part: PythonPart | SourcePart, target: Path) -> Made:
        interpreter = self.interpreter(part.python)
        found = [] if isinstance(part, PythonPart) else install_source(part, target, self.sources, self.say)
        packages, locked = install_environment(part, target, interpreter, self.sources, self.say)
        origin = part.package if isinstance(part, PythonPart) else part.repository
        return Made(f"{origin}=={part.version}", [*found, *packages], locked, (interpreter.directory.name,))

    def _node(self) -> InstalledPart:
        return self._ready(NODE)

    def interpreter(self, wanted: str) -> InstalledPart:
        """One that is carried already where it fits, else a copy of one of this machine."""
        present = [part for part in installed_interpreters(self.cache) if fits(part.version, wanted)]
        if present:
            return present[0]
        return self._ready(InterpreterPart(find_interpreter(wanted).version))

    def _ready(self, part: Part) -> InstalledPart:
        present = read_part(part_directory(self.cache, part))
        if present is None:
            self.install(part)
            present = read_part(part_directory(self.cache, part))
        if present is None:
            raise ClawbenchError(f"{part.name} {part.version} was removed while it was needed. Try again")
        return present


def installed_interpreters(cache: Path) -> list[InstalledPart]:
    found = (read_part(path) for path in sorted((cache / "runtimes").glob("python-3.*")))
    return [part for part in found if part is not None]


def changes(directory: Path, manifest: Manifest) -> list[str]:
    """How the directory differs from its record; empty where it is what was installed."""
    present = list_contents(directory)
    if hash_of(present) == manifest.content_hash:
        return []
    recorded = read_listing(directory, manifest)
    return differences(recorded, present) if recorded else ["its list of contents was changed"]


def wipe(directory: Path) -> None:
    """The record first: a directory without it does not count as installed."""
    (directory / MANIFEST).unlink(missing_ok=True)
    if directory.exists():
        shutil.rmtree(directory)


@contextlib.contextmanager
def only_one(directory: Path, say: Say) -> Iterator[None]:
    """Installers and removers of one part wait for each other."""
    locks = directory.parent / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / directory.name).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another installation of the same part")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
