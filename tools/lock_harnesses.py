"""Renew the locks of harnesses at their default versions: `python tools/lock_harnesses.py [HARNESS…]`.

Needs the package indexes, and Node in the runtime cache. Names, versions and hashes are kept, no addresses.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from clawbench.harnesses import get_harness, harness_names
from clawbench.harnesses.runtimes import NODE, NodePart, NpmPart, Part, PythonPart, SourcePart
from clawbench.harnesses.runtimes.installed import part_directory, read_part
from clawbench.harnesses.runtimes.installing import Installer
from clawbench.harnesses.runtimes.inventory import parts_of
from clawbench.harnesses.runtimes.locks import LOCKS, node_requirement, requirements
from clawbench.harnesses.runtimes.npm import run_npm
from clawbench.harnesses.runtimes.tooling import uv
from clawbench.places import cache_directory

COMPILE = ("--universal", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url")
REMEDY = "Is the package index reachable?"


def main(names: list[str]) -> None:
    LOCKS.mkdir(exist_ok=True)
    wanted = {part.name: part for name in names or harness_names() for part in parts_of(get_harness(name))}
    for part in wanted.values():
        lock(part)
    if not names:
        for path in LOCKS.iterdir():
            if path.stem not in wanted:
                path.unlink()


def lock(part: Part) -> None:
    match part:
        case PythonPart() | SourcePart():
            path = lock_python(part.name, requirements(part))
        case NodePart():
            path = lock_python(part.name, [node_requirement(part)])
        case NpmPart():
            path = lock_npm(part)
        case _:
            return
    print(f"{path.name}  {path.stat().st_size // 1000} kB")


def lock_python(name: str, wanted_packages: list[str]) -> Path:
    path = LOCKS / f"{name}.txt"
    with tempfile.TemporaryDirectory() as temporary:
        wanted = Path(temporary, "wanted.in")
        wanted.write_text("\n".join(wanted_packages) + "\n", encoding="utf-8")
        output = ("--quiet", "--python-version", "3.11", "--output-file", path)
        uv("pip", "compile", *COMPILE, *output, "--upgrade", wanted, remedy=REMEDY)
    return path


def lock_npm(part: NpmPart) -> Path:
    cache = cache_directory()
    Installer(cache).install(NODE)
    node = read_part(part_directory(cache, NODE))
    assert node is not None
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        wanted = {"private": True, "dependencies": {part.package: part.version}}
        (directory / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
        options = ["--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved"]
        run_npm(node, ["install", *options, "--no-audit", "--no-fund"], directory, REMEDY)
        made = json.loads((directory / "package-lock.json").read_text(encoding="utf-8"))
    path = LOCKS / f"{part.name}.json"
    path.write_text(json.dumps(without_words(made), indent=0) + "\n", encoding="utf-8")
    return path


def without_words(made: dict[str, object]) -> dict[str, object]:
    """Only what an installation needs: addresses of homes and donations go."""
    packages = made["packages"]
    assert isinstance(packages, dict)
    for entry in packages.values():
        for field in ("funding", "license", "deprecated"):
            entry.pop(field, None)
    made.pop("name", None)
    return made


if __name__ == "__main__":
    main(sys.argv[1:])
