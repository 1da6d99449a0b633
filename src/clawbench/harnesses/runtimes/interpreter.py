"""A Python to carry along: copied from one of this machine, with every library that it needs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from clawbench.errors import MissingPartError
from clawbench.harnesses.runtimes.carrying import carry
from clawbench.harnesses.runtimes.parts import InterpreterPart
from clawbench.harnesses.runtimes.tooling import Say, run_tool

_PREFERRED = ("3.12", "3.13", "3.11")
_UNUSED = ("__pycache__", "test", "tests", "idle_test", "idlelib", "turtledemo", "tkinter", "ensurepip")
_UNUSED_FILES = (
    "site-packages",
    "dist-packages",
    "config-*",
    "_tkinter.*",
    "EXTERNALLY-MANAGED",
    "sitecustomize.py",
)
_TELL = """
import json, sys, sysconfig
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "executable": getattr(sys, "_base_executable", None) or sys.executable,
    "stdlib": sysconfig.get_path("stdlib"),
    "plain": sys.implementation.name == "cpython" and sys.version_info.releaselevel == "final"
             and not sysconfig.get_config_var("Py_GIL_DISABLED"),
}))
"""


@dataclass(frozen=True)
class Found:
    version: str
    executable: Path
    stdlib: Path

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def find_interpreter(wanted: str) -> Found:
    """One of this machine that fits `>=3.11,<3.14`; 3.12 is what most packages have been tried with."""
    for minor in _PREFERRED:
        for path in _candidates(minor):
            found = _examine(path)
            if found is not None and found.minor == minor and fits(found.version, wanted):
                return found
    raise MissingPartError(
        f"a Python {wanted}",
        "a harness written in Python brings its interpreter, which is copied from one of this machine",
        "Install one: `apt-get install python3`, `pyenv install 3.12` or `uv python install 3.12`",
    )


def fits(version: str, wanted: str) -> bool:
    number = _numbers(version)
    return all(_fits_clause(number, clause.strip()) for clause in wanted.split(",") if clause.strip())


def install_interpreter(part: InterpreterPart, target: Path, found: Found, say: Say) -> list[str]:
    say(f"copying Python {part.version}")
    library = target / "lib" / f"python{found.minor}"
    unused = shutil.ignore_patterns(*_UNUSED, *_UNUSED_FILES)
    shutil.copytree(found.stdlib, library, ignore=unused, ignore_dangling_symlinks=True)
    executable = target / "bin" / f"python{found.minor}"
    executable.parent.mkdir()
    shutil.copyfile(found.executable, executable)
    executable.chmod(0o755)
    for name in ("python3", "python"):
        (executable.parent / name).symlink_to(executable.name)
    say("making Python independent of this machine's libraries")
    carry(executable, sorted(library.glob("lib-dynload/*.so")))
    say("compiling its library")
    check = "import ssl, sqlite3, ctypes, zlib, hashlib, asyncio"
    run_tool([executable, "-I", "-c", check], "Choose another Python: this one is incomplete")
    compile_all = ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", library)
    subprocess.run([executable, "-I", *compile_all], check=False, capture_output=True)
    return [f"python=={part.version}"]


def _candidates(minor: str) -> Iterator[Path]:
    program = [
        find_uv_bin(),
        "python",
        "find",
        "--quiet",
        "--no-project",
        "--system",
        "--no-python-downloads",
        minor,
    ]
    told = subprocess.run(program, capture_output=True, text=True, check=False)
    if told.returncode == 0:
        yield Path(told.stdout.strip())
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{minor}.*/bin/python{minor}"), reverse=True)
    yield Path(sys.executable)


def _examine(path: Path) -> Found | None:
    try:
        told = subprocess.run([path, "-I", "-c", _TELL], capture_output=True, text=True, check=False)
        facts = json.loads(told.stdout)
    except (OSError, ValueError):
        return None
    if not facts["plain"]:
        return None
    return Found(facts["version"], Path(facts["executable"]).resolve(), Path(facts["stdlib"]))


def _fits_clause(number: tuple[int, ...], clause: str) -> bool:
    match = re.fullmatch(r"(>=|<=|<|>|==)\s*([\d.]+)", clause)
    if match is None:
        raise ValueError(f"cannot read {clause!r}")
    limit = _numbers(match[2])
    same = number[: len(limit)] == limit
    return {
        ">=": number >= limit,
        "<": number < limit and not same,
        "==": same,
        "<=": number < limit or same,
        ">": number > limit and not same,
    }[match[1]]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in version.split("."))
