"""Running the tests that decide, in a sandbox without network, and learning what became of each."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clawbench.sandbox import Command, Ended, Limits, Mount, Sandbox
from clawbench.sandbox.interpreter import base_interpreter
from clawbench.scoring import programs
from clawbench.scoring.kinds import Evidence, Invocation, Place, RunnerKind, WatchingKind
from clawbench.scoring.programs import unittest_program
from clawbench.scoring.testreport import MISSING, Outcome

CHECKOUT = "/testbed"
PROGRAMS = "/opt/evaluator/programs"
REPORTS = "/opt/evaluator/reports"
_REPORT_BYTES = 32 * 1024 * 1024
_TAIL_BYTES = 20_000

OpenSandbox = Callable[..., Sandbox]


@dataclass
class TestRun:
    """What became of each test, and what was printed."""

    __test__ = False

    command: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    output: str = ""
    timed_out: bool = False
    duration_s: float = 0.0
    traits: frozenset[str] = frozenset()
    """What of the tested code had a hand in how the tests were run."""


@dataclass(frozen=True)
class TestSite:
    """A checkout to run tests on, with the files that the tested code must not change."""

    __test__ = False

    checkout: Path
    read_only: dict[str, Path]
    scratch: Path
    mounts: Sequence[Mount] = ()
    """The task's environment: what its set-up made, read-only."""
    env: Mapping[str, str] = field(default_factory=dict)
    python: str = field(default_factory=lambda: str(base_interpreter()))

    def all_mounts(self) -> list[Mount]:
        fixed = [Mount(copy, f"{CHECKOUT}/{path}") for path, copy in self.read_only.items()]
        ours = Mount(Path(programs.__file__).parent, PROGRAMS)
        reports = Mount(self.scratch / "reports", REPORTS, writable=True)
        return [*self.mounts, Mount(self.checkout, CHECKOUT, writable=True), *fixed, ours, reports]


async def run_tests(
    command: str,
    tests: Sequence[str],
    kind: RunnerKind,
    site: TestSite,
    open_sandbox: OpenSandbox,
    time_limit_s: float,
) -> TestRun:
    """Run each invocation in a process tree of its own, so that none can speak for another."""
    home, reports = site.scratch / "home", site.scratch / "reports"
    home.mkdir(parents=True)
    reports.mkdir()
    sandbox = open_sandbox(home=home, mounts=site.all_mounts())
    run, began = TestRun(command), time.monotonic()
    place = Place(sandbox.inside(CHECKOUT), sandbox.inside(PROGRAMS), sandbox.inside(REPORTS), site.python)
    try:
        for number, invocation in enumerate(kind.plan(command, tests, place)):
            left = time_limit_s - (time.monotonic() - began)
            attempt = _Attempt(sandbox, site, invocation, site.scratch / str(number))
            ended, evidence = await attempt.make(max(left, 0.001))
            run.output = (run.output + evidence.tail(_TAIL_BYTES))[-_TAIL_BYTES:]
            run.timed_out = ended.limit == "time"
            if run.timed_out:
                break
            run.outcomes |= _spoken_for(invocation, kind.read(invocation, evidence))
            if isinstance(kind, WatchingKind):
                run.traits |= kind.traits(invocation, evidence)
    finally:
        await sandbox.close()
    for test in tests:
        run.outcomes.setdefault(test, Outcome("timeout", "the time limit came first"))
    run.duration_s = round(time.monotonic() - began, 3)
    return run


def _spoken_for(invocation: Invocation, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    unknown = Outcome(MISSING, "the report does not have this test")
    return {test: outcomes.get(test, unknown) for test in invocation.tests}


@dataclass(frozen=True)
class _Attempt:
    sandbox: Sandbox
    site: TestSite
    invocation: Invocation
    scratch: Path

    async def make(self, time_limit_s: float) -> tuple[Ended, Evidence]:
        self.scratch.mkdir()
        nonce = secrets.token_hex(16).encode()
        assert len(nonce) == unittest_program.NONCE_BYTES
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(nonce)
            ours.setblocking(False)
            process = await self.sandbox.start(self._command(theirs.fileno(), time_limit_s))
            theirs.close()
            report = asyncio.create_task(_read_all(ours))
            try:
                ended = await process.wait()
            finally:
                await process.end()
                raw = await report
        return ended, self._evidence(ended, raw, nonce)

    def _command(self, channel: int, time_limit_s: float) -> Command:
        return Command(
            argv=["/bin/sh", "-c", self.invocation.line],
            env={"PYTHONHASHSEED": "0", **self.site.env, **self.invocation.env},
            cwd=self.sandbox.inside(CHECKOUT),
            stdout=self.scratch / "stdout",
            stderr=self.scratch / "stderr",
            keep_fds=[channel],
            limits=Limits(time_s=time_limit_s),
        )

    def _evidence(self, ended: Ended, raw: bytes, nonce: bytes) -> Evidence:
        reports, kept = self.site.scratch / "reports", self.scratch / "reports"
        kept.mkdir()
        reports.chmod(0o700)
        for entry in list(reports.iterdir()):
            entry.rename(kept / entry.name)
        _leave_plain_files(kept)
        stdout, stderr = self.scratch / "stdout", self.scratch / "stderr"
        return Evidence(ended.exit_code, raw, nonce, stdout, stderr, kept)


def _leave_plain_files(directory: Path) -> None:
    """A link would have us read, on the trusted side, a file that the tested code only names."""
    for parent, directories, files in os.walk(directory):
        for name in directories:
            if not (path := Path(parent, name)).is_symlink():
                path.chmod(0o700)
        for path in (Path(parent, name) for name in directories + files):
            if not stat.S_ISREG(mode := path.lstat().st_mode) and not stat.S_ISDIR(mode):
                path.unlink()


async def _read_all(ours: socket.socket) -> bytes:
    """Until every copy of the other end is closed, which the end of the process tree sees to."""
    loop, parts, size = asyncio.get_running_loop(), list[bytes](), 0
    # A program that never read the nonce leaves a reset behind instead of an end.
    with contextlib.suppress(ConnectionResetError):
        while data := await loop.sock_recv(ours, 65536):
            size += len(data)
            if size <= _REPORT_BYTES:
                parts.append(data)
    return b"".join(parts)
