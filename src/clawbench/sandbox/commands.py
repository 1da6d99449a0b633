"""A system with few commands: where programs are kept is emptied, and the wanted ones are put back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

PLACE = "/usr/bin"
_COMMANDS = ("usr/bin", "bin", "usr/sbin", "sbin", "usr/local/bin", "usr/local/sbin")
_EMPTIED = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/games", "usr/libexec", "usr/local", "usr/share")
_LIBRARIES = "usr/lib"
_KEPT = (
    *("usr/lib/*-linux-*", "usr/lib/*.so*", "usr/lib/locale", "usr/lib/os-release", "usr/lib/ssl"),
    *("usr/lib/python3*", "usr/local/lib/python3*", "usr/local/lib/*.so*"),
    *("usr/share/ca-certificates", "usr/share/file", "usr/share/fonts", "usr/share/i18n", "usr/share/locale"),
    *("usr/share/mime", "usr/share/misc", "usr/share/terminfo", "usr/share/zoneinfo"),
)
_MOST_LINKS = 40


def only_commands(names: Sequence[str], interpreter: Path, system: Path = Path("/")) -> Iterator[str]:
    """bwrap's options that leave these commands and the interpreter of `system`, and libraries."""
    emptied = _emptied(system)
    for directory in emptied:
        yield from ("--perms", "0755", "--tmpfs", f"/{directory}")
    for pattern in _KEPT:
        for path in sorted(system.glob(pattern)):
            yield from _put_back(system, str(path.relative_to(system)), emptied)
    for name in names:
        found = find_command(name, system)
        if found is not None:
            yield from ("--ro-bind", str(found), f"{PLACE}/{name}")
    yield from _put_back(system, str(interpreter).lstrip("/"), emptied)
    for directory in emptied:
        yield from ("--remount-ro", f"/{directory}")


def find_command(name: str, system: Path = Path("/")) -> Path | None:
    """The file behind a command's name, past the links that lead to it."""
    for directory in _COMMANDS:
        found = _real(system, f"{directory}/{name}")
        if found is not None and found.is_file() and os.access(found, os.X_OK):
            return found
    return None


def _emptied(system: Path) -> list[str]:
    there = [path for path in _EMPTIED if (system / path).is_dir() and not (system / path).is_symlink()]
    multiarch = any(system.glob(f"{_LIBRARIES}/*-linux-*/libc.so*"))
    return [*there, _LIBRARIES] if multiarch else there  # else the libraries themselves are in it


def _put_back(system: Path, path: str, emptied: Sequence[str]) -> Iterator[str]:
    found = _real(system, path)
    if found is not None and found.exists() and any(path.startswith(f"{one}/") for one in emptied):
        yield from ("--ro-bind", str(found), f"/{path}")


def _real(system: Path, path: str) -> Path | None:
    """Where `path` leads within `system`; a link that begins with / begins there too."""
    left, at = path.split("/"), Path()
    for _ in range(_MOST_LINKS * len(left)):
        if not left:
            return system / at
        part = left.pop(0)
        if part in ("", "."):
            continue
        at = at.parent if part == ".." else at / part
        if (system / at).is_symlink():
            target = os.readlink(system / at)
            at = Path() if target.startswith("/") else at.parent
            left = [*target.split("/"), *left]
    return None
