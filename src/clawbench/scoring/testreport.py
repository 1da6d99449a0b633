"""What a test process reported, believed only where every line of it is in order. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PASSED = "passed"
MISSING = "missing"
TAMPERED = "tampered"
EXPECTED_FAILURE = "expected_failure"
HIDDEN = "hidden"
"""Passed, but SWE-bench's log of Django tests does not show it: the test before left its line open."""


@dataclass(frozen=True)
class Outcome:
    """What became of one test."""

    status: str
    """passed, hidden, failed, error, skipped, expected_failure, unexpected_success, missing, tampered or
    timeout."""
    detail: str = ""

    @property
    def passed(self) -> bool:
        return self.status in (PASSED, HIDDEN)


@dataclass(frozen=True)
class Reading:
    started: bool
    """The program said hello: from then on whatever goes wrong is the tested code's doing."""
    outcomes: dict[str, Outcome]


def read_report(raw: bytes, nonce: bytes, tests: Sequence[str]) -> Reading:
    """One frame per line, each marked with the nonce; one outcome per test; `end`, and nothing after it."""
    frames = frames_of(raw, nonce)
    started = bool(frames) and frames[0] is not None and "hello" in frames[0]
    if any(frame is None for frame in frames):
        return Reading(started, _all(tests, TAMPERED, "something else wrote to the report"))
    known = [frame for frame in frames if frame is not None]
    if not started or not known[-1:] or known[-1].get("end") != len(tests):
        return Reading(started, _all(tests, MISSING, "the process ended before its report did"))
    results = known[1:-1]
    if sorted(str(frame.get("test")) for frame in results) != sorted(tests):
        return Reading(started, _all(tests, TAMPERED, "the report is not one line for each test"))
    return Reading(
        started, {str(f["test"]): Outcome(str(f.get("status")), str(f.get("detail", ""))) for f in results}
    )


def frames_of(raw: bytes, nonce: bytes) -> list[dict[str, Any] | None]:
    """One per line; None for what does not have the nonce, is no object, or was cut short."""
    lines = raw.split(b"\n")
    unfinished = lines.pop()
    return [_frame(line, nonce) for line in lines] + ([None] if unfinished else [])


def _frame(line: bytes, nonce: bytes) -> dict[str, Any] | None:
    mark, _, text = line.partition(b" ")
    if mark != nonce:
        return None
    try:
        frame = json.loads(text)
    except ValueError:
        return None
    return frame if isinstance(frame, dict) else None


def _all(tests: Sequence[str], status: str, detail: str) -> dict[str, Outcome]:
    return {test: Outcome(status, detail) for test in tests}
