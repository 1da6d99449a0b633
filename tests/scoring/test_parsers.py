"""Recorded output of the real tools, read test by test; `logs/expected.json` was checked by hand.

The tests behind each log print lines that look like results, leave lines open, are skipped, parametrised,
nested, tried again, or take their process down.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from clawbench.scoring.kinds import KINDS, EvaluatorError, Evidence, Place
from clawbench.scoring.parsers import OF_SWEBENCH, PARSERS
from clawbench.scoring.parsers.found import plain

LOGS = Path(__file__).parent / "logs"
EXPECTED = json.loads((LOGS / "expected.json").read_text())
ROWS = Path(__file__).parents[3] / "shared" / "data" / "multilingual_rows.jsonl"


@pytest.mark.parametrize("log", EXPECTED)
def test_recorded_log(log: str) -> None:
    expected = dict(EXPECTED[log])
    found = PARSERS[expected.pop("parser")]((LOGS / f"{log}.txt").read_text())
    assert {
        status: sorted(name for name in found if found[name] == status) for status in expected
    } == expected


@pytest.mark.parametrize("log", EXPECTED)
def test_colours_and_line_ends_make_no_difference(log: str) -> None:
    parse = PARSERS[EXPECTED[log]["parser"]]
    text = plain((LOGS / f"{log}.txt").read_text())
    assert parse(text.replace("\n", "\r\n")) == parse(text)
    if "json" not in log and "xml" not in log:
        assert parse(text.replace("\n", "\x1b[0m\n")) == parse(text)


@pytest.mark.parametrize("name", PARSERS)
def test_a_cut_log_has_no_more_passes(name: str) -> None:
    """Whatever is missing at the end, a test that is said to have passed is one of those that did."""
    logs = [log for log in EXPECTED if EXPECTED[log]["parser"] == name]
    for log in logs:
        text = plain((LOGS / f"{log}.txt").read_text())
        ends = random.Random(log).sample(range(len(text)), min(len(text), 60))
        lines = [text.rfind("\n", 0, end) + 1 for end in ends]
        whole = {test for test, status in PARSERS[name](text).items() if status != "failed"}
        failed = set(EXPECTED[log]["failed"])
        for end in lines:
            passed = {test for test, status in PARSERS[name](text[:end]).items() if status == "passed"}
            if name not in ("rspec", "maven"):  # titles are only known by what follows; flakes come last
                assert passed <= whole | failed, (log, end)


@pytest.mark.parametrize("name", PARSERS)
def test_nothing_is_found_in_nothing(name: str) -> None:
    for text in ("", "\n\n", "no such file\n", "{", "<xml", "Segmentation fault (core dumped)\n"):
        assert PARSERS[name](text) == {}


def test_a_failure_is_not_made_up_for() -> None:
    assert PARSERS["go"]("--- FAIL: TestA (0.00s)\n--- PASS: TestA (0.00s)\n") == {"TestA": "failed"}
    assert PARSERS["gradle"]("A > b FAILED\n\nA > b PASSED\n") == {"A > b": "passed"}, "tried again"


FORMS = {
    "go": "=== RUN   {0}\n--- PASS: {0} (0.00s)\n",
    "cargo": "running 1 test\ntest {0} ... ok\n\ntest result: ok. 1 passed\n",
    "jest": "PASS a.test.js\n  {0}\n    ✓ {0} (3 ms)\n\n".replace("  {0}\n", "", 1),
    "vitest": " ✓ {0} 3ms\n",
    "tap": "ok 1 {0}\n",
    "maven": "+ mvn test -Dtest={0}\n[INFO] BUILD SUCCESS\n",
    "gradle": "{0} PASSED\n",
    "ant": "    [junit] [PASS] {0}\n",
    "googletest": "1: [ RUN      ] {0}\n1: [       OK ] {0} (0 ms)\n",
    "rspec": "{0} - passed\n",
    "minitest": "{0}. = 0.01 s = .\n",
    "cucumber": "{0} ....\n",
    "test-unit": "  {0}:\t\t\t.: (0.000172)\n",
    "automake": "PASS: {0}\n",
    "redis": "[ok]: {0} (3 ms)\n",
    "micropython": "pass  {0}\n",
}


def as_printed(parser: str, name: str) -> str:
    if parser == "phpunit":
        suite, _, test = name.partition(" > ")
        return f"{suite} (Tests\\{suite.title().replace(' ', '')})\n ✔ {test}\n"
    return FORMS[parser].format(name)


@pytest.mark.skipif(not ROWS.is_file(), reason="rows of SWE-bench Multilingual are not here")
def test_names_of_rows_come_out_as_they_are() -> None:
    """What a runner prints for each test of each row is read back under the very name that the row has."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    wrong: Counter[str] = Counter()
    count = 0
    for row in rows:
        given = row["log_parser"]
        ours = [OF_SWEBENCH[given]] if given in OF_SWEBENCH else ["minitest", "cucumber"]
        if given == "parse_log_karma":
            continue
        for name in {*_names(row["FAIL_TO_PASS"]), *_names(row["PASS_TO_PASS"])}:
            count += 1
            if not any(PARSERS[parser](as_printed(parser, name)).get(name) == "passed" for parser in ours):
                wrong[f"{given}: {name}"] += 1
    assert count > 1000
    assert not wrong, wrong.most_common(5)


def _names(value: list[str] | str) -> list[str]:
    return json.loads(value) if isinstance(value, str) else value


def test_a_printing_runner_decides(tmp_path: Path) -> None:
    """Names, statuses and exit code must agree."""
    kind = KINDS["log:tap"]
    place = Place("/testbed", "/programs", "/reports", "python3")
    (invocation,) = kind.plan("sh tests.sh", ["a", "b", "gone"], place)
    assert (invocation.line, invocation.tests) == ("sh tests.sh", ("a", "b", "gone"))

    def read(text: str, exit_code: int) -> dict[str, str]:
        (tmp_path / "stdout").write_text(text)
        evidence = Evidence(exit_code, b"", b"", tmp_path / "stdout", tmp_path / "stderr", tmp_path)
        return {test: outcome.status for test, outcome in kind.read(invocation, evidence).items()}

    assert read("ok 1 a\nnot ok 2 b\n", 1) == {"a": "passed", "b": "failed"}
    assert read("ok 1 a\nok 2 b\n", 0) == {"a": "passed", "b": "passed"}
    assert set(read("ok 1 a\nok 2 b\n", 1).values()) == {"tampered"}
    with pytest.raises(EvaluatorError, match="cannot be run"):
        read("", 127)
