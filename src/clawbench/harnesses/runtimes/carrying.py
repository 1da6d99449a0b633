"""Making an executable independent of the machine's libraries: it brings them along, the loader included."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from clawbench.harnesses.runtimes.tooling import InstallError, need_program, run_tool

LIBRARIES = "libraries"
_ASSUMED = (
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libz.so.1",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "libutil.so.1",
)
"""What prebuilt packages expect of every machine."""
_REMEDY = "Is the file an executable of this machine? Please report it"


def carry(executable: Path, modules: Sequence[Path]) -> None:
    """Copy all libraries that it and its modules need beside it, and have it use only these.

    An old-style search path of the executable also holds for whatever it loads later, but not below a module
    with a search path of its own: so what packages may expect is loaded at the start.
    """
    loader = Path(_patchelf("--print-interpreter", executable).strip())
    assumed = {name: path for name, path in _known_libraries().items() if name in _ASSUMED}
    found = {loader.name: loader, **assumed, **_needed((executable, *modules, *assumed.values()))}
    target = executable.parent.parent / LIBRARIES
    target.mkdir(exist_ok=True)
    for name, path in found.items():
        shutil.copyfile(path.resolve(), target / name)
        (target / name).chmod(0o755)
    for module in modules:
        if _patchelf("--print-rpath", module).strip():
            _patchelf("--remove-rpath", module)
    additions = [word for name in sorted(assumed) for word in ("--add-needed", name)]
    _patchelf("--force-rpath", "--set-rpath", target, *additions, executable)
    _patchelf("--set-interpreter", target / loader.name, executable)


def _needed(objects: Iterable[Path]) -> dict[str, Path]:
    """Name of each library in the closure -> where this machine has it."""
    found: dict[str, Path] = {}
    for path in objects:
        told = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
        for name, where in re.findall(r"^\s*(\S+) => (/\S+) \(", told, re.MULTILINE):
            found.setdefault(name, Path(where))
        missing = re.findall(r"^\s*(\S+) => not found", told, re.MULTILINE)
        if missing:
            raise InstallError(
                f"{path} needs {', '.join(missing)}, which this machine does not have. {_REMEDY}"
            )
    return found


def _known_libraries() -> dict[str, Path]:
    program = shutil.which("ldconfig") or "/sbin/ldconfig"
    told = subprocess.run([program, "-p"], capture_output=True, text=True, check=False).stdout
    listed = re.findall(r"^\s*(\S+) \(([^)]*)\) => (/\S+)$", told, re.MULTILINE)
    ours = "x86-64" if sysconfig.get_platform().endswith("x86_64") else "AArch64"
    found: dict[str, Path] = {}
    for name, kind, where in listed:
        if ours in kind:
            found.setdefault(name, Path(where))
    return found


def _patchelf(*words: str | Path) -> str:
    return run_tool([_patchelf_program(), *words], _REMEDY)


def _patchelf_program() -> str:
    """Of the package `patchelf`, which is nothing but this program."""
    ours = Path(sysconfig.get_path("scripts"), "patchelf")
    return str(ours) if ours.exists() else need_program("patchelf", "it came with Clawbench", "Reinstall it")
