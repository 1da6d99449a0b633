"""How the tests stand before any fix: measured once per task and kept, so that a broken task is not blamed
on an agent."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from clawbench.results import now, write_json
from clawbench.scoring import kinds, parsers, programs
from clawbench.scoring.testreport import EXPECTED_FAILURE, Outcome
from clawbench.scoring.testrun import TestRun
from clawbench.tasks import CodingTask, content_hash


@dataclass(frozen=True)
class Before:
    """The tests' outcomes on the base commit with the test patch."""

    outcomes: dict[str, Outcome]
    measured_at: str
    cached: bool = False
    traits: frozenset[str] = frozenset()

    def problem(self, task: CodingTask) -> str | None:
        """What is wrong with the task; None where the tests can decide."""
        broken = [test for test in task.pass_to_pass if not self.holds(test)]
        if all(self.outcomes[test].passed for test in task.fail_to_pass):
            return f"pass without any fix: {', '.join(task.fail_to_pass[:5])}"
        return f"should pass without a fix but do not: {', '.join(broken[:5])}" if broken else None

    def holds(self, test: str) -> bool:
        """Passed, or failed as the test itself expects, which SWE-bench counts among those that pass."""
        return self.outcomes[test].passed or self.outcomes[test].status == EXPECTED_FAILURE


def measured(run: TestRun) -> Before:
    return Before(dict(run.outcomes), now(), traits=run.traits)


def load_before(task: CodingTask, cache: Path | None) -> Before | None:
    if cache is None or not (file := _file(task, cache)).is_file():
        return None
    kept = json.loads(file.read_bytes())
    outcomes = {test: Outcome(**outcome) for test, outcome in kept["outcomes"].items()}
    return Before(outcomes, kept["measured_at"], cached=True, traits=frozenset(kept["traits"]))


def keep_before(task: CodingTask, before: Before, cache: Path | None) -> None:
    if cache is not None and before.problem(task) is None:
        file = _file(task, cache)
        file.parent.mkdir(parents=True, exist_ok=True)
        outcomes = {test: asdict(outcome) for test, outcome in before.outcomes.items()}
        about = {"task": task.id, "measured_at": before.measured_at, "traits": sorted(before.traits)}
        write_json(file, {**about, "outcomes": outcomes})


def _file(task: CodingTask, cache: Path) -> Path:
    key = "\n".join((content_hash(task), evaluator_version(), platform.python_version()))
    return cache / "before" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


@functools.cache
def evaluator_version() -> str:
    """Hash of the code that runs tests and reads their results."""
    packages = (package.__path__[0] for package in (kinds, parsers, programs))
    files = sorted(file for package in packages for file in Path(package).glob("*.*") if file.is_file())
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
