"""Django's own test-suite: `tests/runtests.py` with labels; ids as its log prints them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence

from clawbench.scoring.kinds.named import NamedReading, read_named_report
from clawbench.scoring.kinds.protocol import EvaluatorError, Evidence, Invocation, Place
from clawbench.scoring.testreport import Outcome

_ID = re.compile(r"(?P<method>\w+) \((?P<owner>[\w.]+)\)")


class Django:
    """One process for all labels, as Django's runner does it; our program stands in for unittest's runner."""

    name = "django"

    def missing(self, command: str) -> str | None:
        return None

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        found = _ID.fullmatch(test)
        parts = found["owner"].split(".") if found else []
        candidates = ("/".join(["tests", *parts[:length]]) + ".py" for length in range(len(parts), 0, -1))
        return next((candidate for candidate in candidates if candidate in files), None)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        settings, labels = _arguments(command)
        program = f"{place.programs}/django_program.py"
        line = shlex.join([place.python, "-I", "-B", program, place.checkout, settings, *labels])
        return [Invocation(line, tuple(tests))]

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        return _reading(invocation, evidence).outcomes


def _reading(invocation: Invocation, evidence: Evidence) -> NamedReading:
    reading = read_named_report(evidence.channel, evidence.nonce, invocation.tests, same_test)
    if not reading.started:
        raise EvaluatorError(
            f"the test runner did not start (exit code {evidence.exit_code}): {evidence.tail(2000)[-2000:]}"
        )
    return reading


def same_test(wanted: str, names: Sequence[str]) -> bool:
    """Ids are a test's name or its description; newer Pythons repeat the method in the parentheses."""
    return wanted in names or _canonical(wanted) in {_canonical(name) for name in names}


def _canonical(name: str) -> str:
    found = _ID.fullmatch(name)
    return (
        f"{found['method']} ({found['owner'].removesuffix('.' + found['method'])})" if found else name.strip()
    )


def _arguments(command: str) -> tuple[str, list[str]]:
    words = shlex.split(command)[1:]
    settings = next(
        (word.split("=", 1)[1] for word in words if word.startswith("--settings=")), "test_sqlite"
    )
    return settings, [word for word in words if not word.startswith("-")]
