"""Builds the test program of one C file with our main in it, against a library that `make` has built.

Headers and library belong to the tested code, so neither may stand in for the C language or its library.
Started with `-I -B`, so it must not import anything but the standard library.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if int long return short
signed sizeof static struct switch typedef union unsigned void volatile while
"""
KEYWORDS = frozenset(_KEYWORDS.split())
OURS = frozenset(("check_that", "check_register", "CHECK", "TEST", "main"))
SYSTEM = ("/usr/", "<")


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, errors="replace").stdout


def c_library() -> frozenset[str]:
    """What the C library exports, asked of the very file that programs are linked with."""
    library = output_of("cc", "-print-file-name=libc.so.6").strip()
    lines = output_of("nm", "-D", "--defined-only", library).splitlines()
    return frozenset(line.split()[-1].split("@")[0] for line in lines if line.strip())


def project_macros(preprocessed: str, trusted: str) -> list[str]:
    """Names that headers of the tested code define, from what `cc -E -dD` prints; `trusted` is left out."""
    found, where = [], ""
    for line in preprocessed.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            where = os.path.normpath(marker[1])
        elif name := re.match(r"\s*#\s*(?:define|undef)\s+(\w+)", line):
            found += [] if where.startswith((*SYSTEM, trusted)) else [name[1]]
    return found


def replaced(file: Path, library: Path, flags: list[str]) -> list[str]:
    """Words of C and of its library that the tested code gives another meaning."""
    reserved = KEYWORDS | OURS | c_library()
    macros = project_macros(output_of("cc", "-E", "-dD", *flags, str(file)), f"{file.parent}/")
    symbols = output_of("nm", "-g", "--defined-only", str(library)).split()
    return sorted(reserved.intersection([*macros, *symbols]))


def main(root: Path, output: Path, file: str, library: str, flags: list[str]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    taken = replaced(root / file, root / library, flags)
    if taken:
        sys.exit(f"the tested code replaces parts of C or its library: {', '.join(taken)}")
    ours = Path(__file__).with_name("cc_program.c")
    sources = [str(ours), str(root / file), str(root / library)]
    command = ["cc", "-g", *flags, "-o", str(output / "tests"), *sources, "-lm"]
    sys.exit(subprocess.run(command, cwd=root, check=False).returncode)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
