"""One real web run, from the command line on, with a fault somewhere in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.environments.browser.faults import processes
from tests.environments.browser.faults.cutting_browser import install
from tests.environments.browser.faults.disk import shrink
from tests.environments.browser.faults.plan import KINDS, Fault
from tests.environments.browser.faults.processes import Process
from tests.environments.browser.faults.site import Site, serve, write_task

ROOT = Path(__file__).parents[4]
PROGRAM = "tests.environments.browser.faults.program"
POLICY = "description: Not asked\nprice: {input: 1, output: 1}\nrules: [{when: {turn: 0}, text: Done.}]\n"
PATIENCE_S = 60.0


@dataclass
class Rehearsal:
    """A run under way and what is known of it."""

    base: Path
    output: Path
    site: Site
    runner: subprocess.Popen[bytes]
    seen: set[Process] = field(default_factory=set)
    """Every process of the run that was ever seen."""
    before: dict[str, bytes] = field(default_factory=dict)
    """What the line files held when the fault came."""
    fault_at: float = 0.0
    started_at: float = field(default_factory=time.time)

    @property
    def run_dir(self) -> Path | None:
        return next(iter(self.output.glob("b/*/*/*/1")), None)

    def read(self, name: str) -> bytes:
        try:
            return (self.run_dir or Path("/nonexistent")).joinpath(name).read_bytes()
        except OSError:
            return b""

    def json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.read(name) or b"{}")
        return found

    def part(self, name: str) -> list[Process]:
        if name == "runner":
            return processes.one(self.runner.pid)
        return processes.part(self.runner.pid, name)

    def look(self) -> None:
        self.seen.update(processes.tree(self.runner.pid))

    def wait_until(self, condition: Callable[[], Any], what: str, within_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            self.look()
            assert self.runner.poll() is None, f"the run ended before {what}:\n{self.complaints()}"
            assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
            time.sleep(0.01)

    def in_full_swing(self, more: int = 10) -> None:
        """The page acts, the agent acts, the camera runs."""
        numbers, lines = len(self.site.numbers()), self.read("data/actions.jsonl").count(b"\n")
        self.wait_until(
            lambda: (
                len(self.site.numbers()) >= numbers + more
                and self.read("data/actions.jsonl").count(b"\n") >= lines + more
            ),
            "the page was busy",
        )

    def complaints(self) -> str:
        record = {
            name: self.json("run.json").get(name) for name in ("stop_reason", "stop_description", "error")
        }
        return f"{record}\n{(self.base / 'stderr.txt').read_text()[-3000:]}"

    def send(self, name: str, number: signal.Signals) -> None:
        """To every process that is this part; for what has ended in the meantime that is no news."""
        for process in self.part(name):
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def strike(self, kind: str) -> None:
        self.look()
        for name in ("data/actions.jsonl", "data/requests.jsonl", "data/cdp-commands.jsonl"):
            self.before[name] = self.read(name)
        self.fault_at = time.time()
        number = KINDS[kind].signal
        if number is None:
            shrink(self.output)
        else:
            self.send(KINDS[kind].part, number)

    def end(self) -> int:
        """The runner's exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.runner.poll() is None:
            assert time.monotonic() < deadline, f"the run does not end:\n{self.complaints()}"
            self.look()
            time.sleep(0.01)
        return self.runner.returncode


@contextmanager
def rehearsal(base: Path, output: Path, agent: str, *, cutting: bool = False) -> Iterator[Rehearsal]:
    """Start a run of the busy page; whatever it leaves is ended with the block."""
    (base / "t").mkdir()
    (base / "policy.yaml").write_text(POLICY)
    task = write_task(base)
    with serve(base / "site.sock") as site, (base / "stderr.txt").open("wb") as complaints:
        env = {
            **os.environ,
            "TMPDIR": str(base / "t"),
            "FAULTS_SITE": str(site.socket),
            "FAULTS_AGENT": agent,
        }
        if cutting:
            (base / "bin").mkdir()
            env["CLAWBENCH_BROWSER"] = str(install(base / "bin"))
        command = [sys.executable, "-m", PROGRAM, "run", str(task), "--harness", "busy"]
        command += ["--model", f"scripted:{base / 'policy.yaml'}", "--output", str(output), "--batch", "b"]
        runner = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=complaints)
        one = Rehearsal(base, output, site, runner)
        try:
            yield one
        finally:
            for process in [*one.seen, *processes.tree(runner.pid), *processes.one(runner.pid)]:
                if process.running:
                    os.kill(process.pid, signal.SIGKILL)
            runner.wait()


def perform(one: Rehearsal, fault: Fault) -> None:
    """Bring the run to the moment, strike, and let it come to its end."""
    {"starting": at_start, "working": at_work, "sending": at_cue, "held": while_held, "closing": at_close}[
        fault.moment
    ](one, fault)


def at_start(one: Rehearsal, fault: Fault) -> None:
    one.wait_until(
        lambda: one.part(KINDS[fault.kind].part) and one.run_dir, "there was something to strike at"
    )
    time.sleep(fault.delay_s)
    one.strike(fault.kind)


def at_work(one: Rehearsal, fault: Fault) -> None:
    one.in_full_swing()
    time.sleep(fault.delay_s)
    one.strike(fault.kind)
    if "intercepted" in KINDS[fault.kind].reasons:
        one.in_full_swing()
        one.site.give_cue()


def at_cue(one: Rehearsal, fault: Fault) -> None:
    """About when the first final requests are sent."""
    one.in_full_swing()
    one.site.give_cue(after_ms=100)
    time.sleep(0.09 + fault.delay_s)
    one.strike(fault.kind)


def while_held(one: Rehearsal, fault: Fault) -> None:
    """The session stands still while final requests wait for its word."""
    one.in_full_swing()
    one.site.give_cue(after_ms=300)
    time.sleep(0.15)
    one.send("session", signal.SIGSTOP)
    time.sleep(0.4 + fault.delay_s)
    one.strike(fault.kind)
    time.sleep(0.3)
    one.send("session", signal.SIGCONT)


def at_close(one: Rehearsal, fault: Fault) -> None:
    one.in_full_swing()
    one.site.give_cue()
    one.wait_until(lambda: one.json("data/interception.json").get("intercepted"), "it was intercepted")
    time.sleep(fault.delay_s)
    one.strike(fault.kind)
