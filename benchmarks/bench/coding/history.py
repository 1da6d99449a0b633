"""A generated repository about the size of Django's: always the same for the same number of commits.

Django's main branch has 34,886 commits, 245,000 trees and 146,000 files of 21 kB on average; with
35,000 commits this one has 213,000 trees and 145,000 files of 21 kB.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

FILES_AT_START = 2500
FILES_AT_END = 6500
VERSION = 1
"""Part of the cached repository's name: raise it when what is generated changes."""
_NAMES = """
field model query form view template cache session request response admin widget signal token parser
node loader backend storage router index value error warning result option default name label help text
"""
_WORDS = _NAMES.split()


class _Tree:
    """The files as they stand, each a list of lines."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.files: dict[str, list[str]] = {}
        self.names: list[str] = []
        self.neighbours: dict[str, list[str]] = {}

    def line(self) -> str:
        pick = self.random.choice
        depth = "    " * self.random.randrange(4)
        called = f"{pick(_WORDS)}({pick(_WORDS)}, {self.random.randrange(999)})"
        return f"{depth}{pick(_WORDS)}_{pick(_WORDS)} = self.{called}"

    def add(self) -> str:
        pick = self.random.choice
        depth = pick((1, 2, 2, 3, 3, 4))
        directory = "/".join(pick(_WORDS[:6]) for _ in range(depth))
        name = f"{directory}/{pick(_WORDS)}_{len(self.names)}.py"
        length = int(self.random.paretovariate(1.2) * 130) % 2700 + 30
        self.files[name] = [self.line() for _ in range(length)]
        self.names.append(name)
        self.neighbours.setdefault(directory, []).append(name)
        return name

    def edit(self) -> set[str]:
        """Some files change often, most of them rarely, and neighbours together."""
        name = self.names[int(len(self.names) * self.random.random() ** 2)]
        beside = self.neighbours[name.rpartition("/")[0]]
        wanted = self.random.choice((1, 1, 2, 3, 4)) - 1
        chosen = {name, *self.random.sample(beside, min(wanted, len(beside)))}
        for changed in sorted(chosen):
            self._change(self.files[changed])
        return chosen

    def _change(self, lines: list[str]) -> None:
        for _ in range(self.random.randint(1, 6)):
            lines[self.random.randrange(len(lines))] = self.line()
        at = self.random.randrange(len(lines))
        lines[at:at] = [self.line() for _ in range(self.random.randrange(5))]


def stream(commits: int) -> Iterator[bytes]:
    """For `git fast-import`: one branch, and a tag for every thousandth commit."""
    tree = _Tree(seed=commits)
    yield b"reset refs/heads/main\n"
    for number in range(1, commits + 1):
        changed = {tree.add() for _ in range(FILES_AT_START)} if number == 1 else set()
        if number % max(1, commits // (FILES_AT_END - FILES_AT_START)) == 0:
            changed.add(tree.add())
        changed |= tree.edit() | tree.edit()
        yield _commit(number, {name: tree.files[name] for name in sorted(changed)})
        if number % 1000 == 0:
            yield f"reset refs/tags/v{number // 1000}\nfrom :{number}\n\n".encode()
    yield b"done\n"


def _commit(number: int, changed: dict[str, list[str]]) -> bytes:
    who = f"Project Maintainers <maintainers@example.org> {1_100_000_000 + number * 9000} +0000"
    message = f"Change {len(changed)} files\n\nNumber {number}.\n".encode()
    parts = [
        f"commit refs/heads/main\nmark :{number}\ncommitter {who}\ndata {len(message)}\n".encode(),
        message,
    ]
    for name, lines in changed.items():
        data = "\n".join([*lines, ""]).encode()
        parts += [f"M 100644 inline {name}\ndata {len(data)}\n".encode(), data, b"\n"]
    return b"".join(parts)


def generated(commits: int, directory: Path) -> Path:
    """The repository, packed as a server would have packed it; made once."""
    target = directory / f"history-{VERSION}-{commits}.git"
    if target.exists():
        return target
    building = target.with_suffix(".building")
    subprocess.run(["rm", "-rf", building], check=True)
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", building], check=True)
    importing = subprocess.Popen(
        ["git", "fast-import", "--quiet", "--done"], cwd=building, stdin=subprocess.PIPE
    )
    assert importing.stdin is not None
    for part in stream(commits):
        importing.stdin.write(part)
    importing.stdin.close()
    if importing.wait():
        raise SystemExit("git fast-import failed")
    subprocess.run(["git", "repack", "-q", "-a", "-d", "-f", "--window=10"], cwd=building, check=True)
    building.rename(target)
    return target
