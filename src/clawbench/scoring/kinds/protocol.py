"""What a kind of test runner is to the evaluator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from clawbench.scoring.testreport import Outcome


class EvaluatorError(Exception):
    """The tests could not be started: nothing is known about the code."""


@dataclass(frozen=True)
class Place:
    """Where things are, as the test process sees them."""

    checkout: str
    """The work tree with the patch in it: whatever lies here is the tested code's to write."""
    programs: str
    """Our own programs (`scoring/programs`), read-only."""
    reports: str
    """An empty directory outside the work tree, of this invocation only, for what a runner writes into files.
    The tested code can find and write it as well: believe nothing in it that is not confirmed otherwise."""
    python: str
    """The interpreter of the task's environment, or the one below ours."""


@dataclass(frozen=True)
class Invocation:
    """One process tree of its own, and the tests it speaks for."""

    line: str
    """Shell line, run in the checkout."""
    tests: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """What an invocation left behind, on the trusted side. All its processes are gone."""

    exit_code: int
    channel: bytes
    """What came over the socket that the process finds as descriptor 3, where it first reads the nonce
    (32 bytes). Only a program that reads the nonce before any tested code runs can be believed."""
    nonce: bytes
    stdout: Path
    stderr: Path
    """Everything printed. The tested code prints there as well, unless the runner keeps its output apart."""
    reports: Path

    def tail(self, size: int = 20_000) -> str:
        return "".join(_tail(path, size) for path in (self.stdout, self.stderr))


class RunnerKind(Protocol):
    """One kind of test runner. Pure but for `missing`, which looks at the machine."""

    name: str

    def missing(self, command: str) -> str | None:
        """What this machine lacks to run such a command; None where nothing is known to."""
        ...

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        """The file a test lives in, where its id tells: it is put back and kept read-only."""
        ...

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        """The process trees to run. Each test is spoken for by exactly one."""
        ...

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        """What became of each test; a test left out counts as missing.

        Raises EvaluatorError where the runner itself could not start.
        """
        ...


@runtime_checkable
class WatchingKind(RunnerKind, Protocol):
    """A kind that also sees which parts of the tested code have a hand in how tests are run.

    Where a patch adds to what there was before it, nothing that its tests report is believed.
    """

    def traits(self, invocation: Invocation, evidence: Evidence) -> frozenset[str]: ...


def _tail(path: Path, size: int) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read().decode(errors="replace")
