"""Running the tests that decide, in a sandbox without network, and learning what became of each."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shlex
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clawbench.sandbox import Command, Ended, Limits, Mount, Sandbox
from clawbench.sandbox.interpreter import base_interpreter
from clawbench.scoring import unittest_program
from clawbench.scoring.testreport import Outcome, Reading, read_report

CHECKOUT = "/testbed"
PROGRAM = "/opt/evaluator/unittest_program.py"
PYTHON_MARK = "{python}"
UNITTEST_MARK = "{unittest}"
"""In a `test_command`: the interpreter below ours; our own runner for the standard library's unittest."""
_CANNOT_RUN = (126, 127)
_REPORT_BYTES = 32 * 1024 * 1024
_TAIL_BYTES = 20_000

OpenSandbox = Callable[..., Sandbox]


class EvaluatorError(Exception):
    """The tests could not be started: nothing is known about the code."""


@dataclass
class TestRun:
    """What became of each test, and what was printed."""

    __test__ = False

    command: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    output: str = ""
    timed_out: bool = False
    duration_s: float = 0.0


@dataclass(frozen=True)
class TestSite:
    """A checkout to run tests on, with the files that the tested code must not change."""

    __test__ = False

    checkout: Path
    read_only: dict[str, Path]
    scratch: Path

    def mounts(self) -> list[Mount]:
        fixed = [Mount(copy, f"{CHECKOUT}/{path}") for path, copy in self.read_only.items()]
        program = Mount(Path(unittest_program.__file__), PROGRAM)
        return [Mount(self.checkout, CHECKOUT, writable=True), *fixed, program]


async def run_tests(
    command: str, tests: Sequence[str], site: TestSite, open_sandbox: OpenSandbox, time_limit_s: float
) -> TestRun:
    """Run each group of tests in a process tree of its own, so that none can speak for another."""
    site.scratch.mkdir(parents=True)
    home = site.scratch / "home"
    home.mkdir()
    sandbox = open_sandbox(home=home, mounts=site.mounts())
    run, began = TestRun(command), time.monotonic()
    try:
        for number, group in enumerate(groups(command, tests)):
            left = time_limit_s - (time.monotonic() - began)
            await _run_group(run, sandbox, group, site.scratch / str(number), max(left, 0.001))
            if run.timed_out:
                break
    finally:
        await sandbox.close()
    for test in tests:
        run.outcomes.setdefault(test, Outcome("timeout", "the time limit came first"))
    run.duration_s = round(time.monotonic() - began, 3)
    return run


def groups(command: str, tests: Sequence[str]) -> list[list[str]]:
    """By class with our own runner; one by one where an exit code is all there is to go by."""
    if UNITTEST_MARK not in command:
        return [[test] for test in tests]
    by_class: dict[str, list[str]] = {}
    for test in tests:
        by_class.setdefault(test.rpartition(".")[0], []).append(test)
    return list(by_class.values())


def expand_command(command: str, tests: Sequence[str], inside: Callable[[str], str]) -> str:
    python = shlex.quote(str(base_interpreter()))
    runner = f"{python} -I -B {shlex.quote(inside(PROGRAM))} {shlex.quote(inside(CHECKOUT))}"
    expanded = command.replace(UNITTEST_MARK, runner).replace(PYTHON_MARK, python)
    return " ".join((expanded, *(shlex.quote(test) for test in tests)))


async def _run_group(
    run: TestRun, sandbox: Sandbox, group: list[str], scratch: Path, time_limit_s: float
) -> None:
    scratch.mkdir()
    nonce = secrets.token_hex(16).encode()
    assert len(nonce) == unittest_program.NONCE_BYTES
    line = expand_command(run.command, group, sandbox.inside)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(nonce)
        ours.setblocking(False)
        command = Command(
            argv=["/bin/sh", "-c", line],
            env={"PYTHONHASHSEED": "0"},
            cwd=sandbox.inside(CHECKOUT),
            stdout=scratch / "stdout",
            stderr=scratch / "stderr",
            keep_fds=[theirs.fileno()],
            limits=Limits(time_s=time_limit_s),
        )
        process = await sandbox.start(command)
        theirs.close()
        report = asyncio.create_task(_read_all(ours))
        try:
            ended = await process.wait()
        finally:
            await process.end()
            raw = await report
    output = "".join(_tail(scratch / name) for name in ("stdout", "stderr"))
    run.output = (run.output + output)[-_TAIL_BYTES:]
    run.timed_out = ended.limit == "time"
    if not run.timed_out:
        own_runner = UNITTEST_MARK in run.command
        run.outcomes |= (
            _reported(raw, nonce, group, ended, output) if own_runner else _exited(group, ended, output)
        )


def _reported(raw: bytes, nonce: bytes, group: list[str], ended: Ended, output: str) -> dict[str, Outcome]:
    reading: Reading = read_report(raw, nonce, group)
    if not reading.started:
        raise EvaluatorError(f"the test runner did not start (exit code {ended.exit_code}): {output[-2000:]}")
    return reading.outcomes


def _exited(group: list[str], ended: Ended, output: str) -> dict[str, Outcome]:
    if ended.exit_code in _CANNOT_RUN:
        raise EvaluatorError(
            f"the test command cannot be run (exit code {ended.exit_code}): {output[-2000:]}"
        )
    outcome = Outcome("failed" if ended.exit_code else "passed", f"exit code {ended.exit_code}")
    return dict.fromkeys(group, outcome)


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


def _tail(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return file.read().decode(errors="replace")
