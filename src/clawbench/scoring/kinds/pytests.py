"""pytest, by our own program around it; ids are node ids, also as SWE-bench's logs cut them short."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence

from clawbench.scoring.kinds.exitcode import PYTHON_MARK
from clawbench.scoring.kinds.named import NamedReading, read_named_report
from clawbench.scoring.kinds.protocol import EvaluatorError, Evidence, Invocation, Place
from clawbench.scoring.restoring import file_of_test
from clawbench.scoring.testreport import Outcome


class PyTest:
    """One process for all files: those that `test_command` names after `pytest`, else the ids' own."""

    name = "pytest"

    def missing(self, command: str) -> str | None:
        return None

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        return file_of_test(test, files)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        words = [word for word in shlex.split(command)[1:] if word != PYTHON_MARK]
        files = [] if any(not word.startswith("-") for word in words) else files_of(tests)
        program = f"{place.programs}/pytest_program.py"
        line = shlex.join([place.python, "-I", "-B", program, place.checkout, *words, *files])
        return [Invocation(line, tuple(tests))]

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        return _reading(invocation, evidence).outcomes

    def traits(self, invocation: Invocation, evidence: Evidence) -> frozenset[str]:
        return _reading(invocation, evidence).traits


def _reading(invocation: Invocation, evidence: Evidence) -> NamedReading:
    reading = read_named_report(evidence.channel, evidence.nonce, invocation.tests, same_test)
    if not reading.started:
        raise EvaluatorError(
            f"the test runner did not start (exit code {evidence.exit_code}): {evidence.tail(2000)[-2000:]}"
        )
    return reading


def files_of(tests: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(test.split("::")[0] for test in tests if "::" in test))


_PATH_OPTION = re.compile(r"^(?P<start>.*\[)/(?:[^\]]*/)?(?P<last>[^/\]]*\])$")


def same_test(wanted: str, names: Sequence[str]) -> bool:
    """A node id; or it up to its first space; or with a path parameter cut to its end; or a bare name."""
    (name,) = names
    if wanted == name or wanted == name.split(" ")[0]:
        return True
    path = _PATH_OPTION.match(name)
    if path is not None and wanted == f"{path['start']}/{path['last']}":
        return True
    return "::" not in wanted and wanted == name.rpartition("::")[2]
