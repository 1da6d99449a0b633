"""Rows of SWE-bench, where their file and git mirrors are: the gold patch resolves, nothing does not.

Set `CLAWBENCH_TEST_ROWS` to a file of rows and `CLAWBENCH_MIRROR` to a directory of mirrors.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from clawbench.tasks.rows import read_rows
from tests.cli.command import clawbench

ROWS = os.environ.get("CLAWBENCH_TEST_ROWS", "")
CASES = os.environ.get("CLAWBENCH_TEST_CASES", "django__*")
pytestmark = [
    pytest.mark.rows,
    pytest.mark.skipif(
        not (ROWS and os.environ.get("CLAWBENCH_MIRROR")),
        reason="CLAWBENCH_TEST_ROWS and CLAWBENCH_MIRROR are not set",
    ),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.timeout(3600),
]


def judged(tmp_path: Path, which: str) -> dict[str, dict[str, object]]:
    options = ("--dataset", ROWS, "--cases", CASES, "--workers", "2", "--output", str(tmp_path), "--json")
    done = clawbench("eval", which, *options, within_s=3600)
    assert done.returncode == 0, done.stderr
    return {row["instance_id"]: row for row in map(json.loads, done.stdout.splitlines()[:-1])}


def test_gold_resolves_and_nothing_does_not_with_the_statuses_of_the_rows(tmp_path: Path) -> None:
    rows = read_rows(Path(ROWS))
    gold, empty = judged(tmp_path, "--gold"), judged(tmp_path, "--empty")
    assert gold
    assert {row["verdict"] for row in gold.values()} == {"resolved"}
    assert {row["verdict"] for row in empty.values()} == {"unresolved"}
    for name in gold:
        wanted = dict.fromkeys(rows[name].fail_to_pass, False) | dict.fromkeys(rows[name].pass_to_pass, True)
        before, after = empty[name]["tests"], gold[name]["tests"]
        assert isinstance(before, dict)
        assert isinstance(after, dict)
        assert {test: status == "passed" for test, status in before.items()} == wanted
        assert set(after.values()) == {"passed"}
