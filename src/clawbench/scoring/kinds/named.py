"""Reports that name every test that ran, to be matched with the tests that decide. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clawbench.scoring.testreport import HIDDEN, MISSING, PASSED, TAMPERED, Outcome, frames_of

Matches = Callable[[str, Sequence[str]], bool]


@dataclass(frozen=True)
class NamedReading:
    """What a report of names says."""

    started: bool
    outcomes: dict[str, Outcome]
    traits: frozenset[str] = frozenset()
    """What of the tested code has a hand in how tests are run: a patch may not add to it."""


def read_named_report(raw: bytes, nonce: bytes, tests: Sequence[str], matches: Matches) -> NamedReading:
    """Frames: hello; `names`, `status`, `detail` per test; `end` with their number, and nothing after it."""
    frames = frames_of(raw, nonce)
    started = bool(frames) and frames[0] is not None and "hello" in frames[0]
    if any(frame is None for frame in frames):
        return NamedReading(started, _all(tests, TAMPERED, "something else wrote to the report"))
    known = [frame for frame in frames if frame is not None]
    if not started or "end" not in known[-1]:
        return NamedReading(started, _all(tests, MISSING, "the process ended before its report did"))
    end, results = known[-1], known[1:-1]
    first_names = [str(frame["names"][0]) for frame in results if frame.get("names")]
    if not end["end"] == len(results) == len(set(first_names)):
        return NamedReading(started, _all(tests, TAMPERED, "the report is not one line for each test"))
    if end.get("tampered"):
        return NamedReading(started, _all(tests, TAMPERED, "; ".join(map(str, end["tampered"]))))
    outcomes = {
        test: _outcome([frame for frame in results if matches(test, frame["names"])]) for test in tests
    }
    return NamedReading(started, outcomes, frozenset(map(str, end.get("traits", ()))))


def _outcome(frames: Sequence[dict[str, Any]]) -> Outcome:
    """All tests of that name must have passed: ids that were cut short can stand for several."""
    if not frames:
        return Outcome(MISSING, "no such test ran")
    worst = next((frame for frame in frames if frame.get("status") not in (PASSED, HIDDEN)), frames[0])
    return Outcome(str(worst.get("status")), str(worst.get("detail", "")))


def _all(tests: Sequence[str], status: str, detail: str) -> dict[str, Outcome]:
    return {test: Outcome(status, detail) for test in tests}
