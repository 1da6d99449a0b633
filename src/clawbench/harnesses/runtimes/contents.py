"""What a directory holds: a line per entry, and one hash over all lines."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

MANIFEST = "part.json"
LISTING = "contents.txt"
"""Both describe the directory and do not count as its content."""


def list_contents(directory: Path) -> list[str]:
    """`digest mode path` of every file, link and empty directory, in the order of paths."""
    entries = sorted(_entries(directory), key=lambda path: os.fsencode(path.relative_to(directory)))
    return [_line(directory, path) for path in entries]


def hash_of(lines: Sequence[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"


def differences(recorded: Sequence[str], present: Sequence[str]) -> list[str]:
    """What was changed, added or removed, one short sentence each."""
    before, after = _by_path(recorded), _by_path(present)
    found = [(path, "is missing") for path in before.keys() - after.keys()]
    found += [(path, "was added") for path in after.keys() - before.keys()]
    found += [(path, "was changed") for path in before.keys() & after.keys() if before[path] != after[path]]
    return [f"{path} {what}" for path, what in sorted(found)]


def size_of(directory: Path) -> int:
    return sum(path.lstat().st_size for path in _entries(directory) if not path.is_symlink())


def open_modes(directory: Path) -> None:
    """Readable by everybody, whatever the umask was: in a sandbox the files belong to somebody else."""
    directory.chmod(0o755)
    for base, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = Path(base, name)
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                path.chmod(0o755 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0o644)


def _entries(directory: Path) -> Iterator[Path]:
    for base, folders, files in os.walk(directory):
        here = Path(base)
        linked = [name for name in folders if (here / name).is_symlink()]
        if not folders and not files and here != directory:
            yield here
        for name in (*linked, *files):
            if here != directory or name not in (MANIFEST, LISTING):
                yield here / name


def _line(directory: Path, path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        digest = hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()
        kind = "link"
    elif stat.S_ISREG(mode):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        kind = f"{mode & 0o777:04o}"
    else:
        digest, kind = "-", f"{stat.S_IFMT(mode):o}:{mode & 0o777:04o}"
    return f"{digest} {kind} {os.fsdecode(path.relative_to(directory))!r}"


def _by_path(lines: Sequence[str]) -> dict[str, str]:
    split = (line.split(" ", 2) for line in lines)
    return {path[1:-1]: f"{digest} {kind}" for digest, kind, path in split}
