"""A program that is published as a source tree: from a mirror, a given directory, or GitHub."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from clawbench.errors import InputError
from clawbench.harnesses.runtimes.parts import SourcePart
from clawbench.harnesses.runtimes.tooling import Say, Sources, need_program, run_tool
from clawbench.tasks.mirrors import VARIABLE, find_mirror, is_repository, mirror_directories


def install_source(part: SourcePart, target: Path, sources: Sources, say: Say) -> list[str]:
    tree = target / "source"
    given = sources.source.expanduser().absolute() if sources.source else None
    if given is not None and not given.is_dir():
        raise InputError(
            f"{given} is no directory", field="--source", remedy="Give a git repository or a source tree"
        )
    if given is not None and not is_repository(given):
        say(f"copying {given}")
        shutil.copytree(given, tree, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        return [f"{part.repository}==tree"]
    mirror = given or _mirror(part)
    if mirror is not None:
        say(f"taking {part.repository} from {mirror}")
        _extract(mirror, part, tree)
    else:
        say(f"fetching {part.repository}")
        _fetch(part, target.parent, tree)
    return [f"{part.repository}=={part.version}"]


def _mirror(part: SourcePart) -> Path | None:
    try:
        return find_mirror(part.repository, mirror_directories(()))
    except InputError:
        return None


def _fetch(part: SourcePart, beside: Path, tree: Path) -> None:
    remedy = f"Without a network give --source DIR (a clone of {part.repository}), or set {VARIABLE}"
    git = need_program("git", "source trees are fetched with it", "Install git")
    with tempfile.TemporaryDirectory(prefix=".source-", dir=beside) as temporary:
        run_tool([git, "init", "-q", "--bare", temporary], remedy)
        address = f"https://github.com/{part.repository}.git"
        words = ("-C", temporary, "fetch", "-q", "--depth", "1", address, part.version)
        run_tool([git, *words], remedy, env={"GIT_TERMINAL_PROMPT": "0"})
        _extract(Path(temporary), part, tree)


def _extract(repository: Path, part: SourcePart, tree: Path) -> None:
    """The committed files, without history; a mirror of someone else's is trusted to be read."""
    git = need_program("git", "source trees are read with it", "Install git")
    with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
        words = ("-c", "safe.directory=*", "-C", repository, "archive", "-o", archive.name, part.version)
        remedy = f"Bring {repository} up to date: it must hold {part.version}"
        run_tool([git, *words, "--", *part.paths], remedy)
        with tarfile.open(archive.name) as opened:
            opened.extractall(tree, filter="data")
