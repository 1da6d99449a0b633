"""The report of a test process, line by line, and which files a patch has no say in."""

from __future__ import annotations

import json

import pytest

from clawbench.scoring.restoring import deciding_files, file_of_test, reason_to_restore
from clawbench.scoring.testreport import read_report

NONCE = b"n" * 32
TESTS = ["a.B.c", "a.B.d"]


def frames(*values: object, nonce: bytes = NONCE) -> bytes:
    return b"".join(nonce + b" " + json.dumps(value).encode() + b"\n" for value in values)


HELLO, END = {"hello": [3, 11, 0]}, {"end": 2}
PASS = [{"test": test, "status": "passed"} for test in TESTS]


def statuses(raw: bytes) -> list[str]:
    return [read_report(raw, NONCE, TESTS).outcomes[test].status for test in TESTS]


def test_complete_report_is_believed() -> None:
    raw = frames(HELLO, PASS[0], {"test": TESTS[1], "status": "failed", "detail": "why"}, END)
    reading = read_report(raw, NONCE, TESTS)
    assert reading.started
    assert [outcome.passed for outcome in reading.outcomes.values()] == [True, False]
    assert reading.outcomes[TESTS[1]].detail == "why"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", "missing"),
        (frames(HELLO), "missing"),
        (frames(HELLO, *PASS), "missing"),
        (frames(*PASS, END), "missing"),
        (frames(HELLO, *PASS, {"end": 1}), "missing"),
        (frames(HELLO, *PASS, END, PASS[0]), "missing"),
        (frames(HELLO, PASS[0], END), "tampered"),
        (frames(HELLO, *PASS, PASS[0], END), "tampered"),
        (frames(HELLO, PASS[0], PASS[0], END), "tampered"),
        (frames(HELLO, *PASS, END) + b"x", "tampered"),
        (frames(HELLO, *PASS, END) + b"\n", "tampered"),
        (frames(HELLO) + frames(*PASS, END, nonce=b"m" * 32), "tampered"),
        (frames(HELLO) + b"passed\n" + frames(*PASS, END), "tampered"),
        (frames(HELLO) + NONCE + b" {\n" + frames(*PASS, END), "tampered"),
        (frames(HELLO, [1], *PASS, END), "tampered"),
    ],
)
def test_anything_else_is_not(raw: bytes, status: str) -> None:
    assert statuses(raw) == [status, status]


FILES = {"tests/test_a.py", "tests/deep/test_b.py", "pkg/a.py", "pkg/testing/tests/test_c.py", "a/b_test.go"}


@pytest.mark.parametrize(
    ("test_id", "file"),
    [
        ("tests.test_a.Class.test_x", "tests/test_a.py"),
        ("tests/deep/test_b.py::Class::test_x[1.5]", "tests/deep/test_b.py"),
        ("tests.nowhere.Class.test_x", None),
        ("TestSomething", None),
    ],
)
def test_file_of_a_test(test_id: str, file: str | None) -> None:
    assert file_of_test(test_id, FILES) == file


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("pkg/a.py", True),
        ("pkg/testing/client.py", True),
        ("a/b.go", True),
        ("docs/tests.md", True),
        ("mytests/x.py", True),
        ("lib/setup.py", True),
        ("tests/test_a.py", False),
        ("tests/helper.py", False),
        ("tests/test_a.py/x", False),
        ("tests", False),
        ("pkg/testing/tests/__init__.py", False),
        ("a/b_test.go", False),
        ("pkg/conftest.py", False),
        ("x.pth", False),
    ],
)
def test_what_of_a_patch_counts(path: str, counts: bool) -> None:
    homes = [file_of_test(test, FILES) for test in ("tests.test_a.C.t", "pkg.testing.tests.test_c.C.t")]
    deciding = deciding_files(homes, ["a/b_test.go", "tests/test_a.py"])
    assert (reason_to_restore(path, deciding) is None) == counts
