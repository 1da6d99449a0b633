"""What a verdict takes over the tests alone: patch, checkout, sandboxes, reports."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from clawbench.results import Verdict
from clawbench.sandbox import open_sandbox
from clawbench.scoring.coding import score_coding
from clawbench.tasks import CodingTask

MODULES = 8
TESTS = 4
ROUNDS_OF_HASHING = 5_000_000
"""Per test: one to two seconds of work, a minute in all."""
FIX = "clawbench_bench_fix.py"
_MODULE = """\
import hashlib
import os
import unittest


class Test{number}(unittest.TestCase):
{tests}
"""
_TEST = """\
    def test_{name}(self):
        self.assertTrue({condition})
        self.assertEqual(len(hashlib.pbkdf2_hmac("sha256", b"word", b"{name}", {rounds})), 32)
"""


def test_modules() -> dict[str, str]:
    """The first test needs the fix, the others pass with and without."""
    modules = {"bench_tests/__init__.py": ""}
    for number in range(MODULES):
        fixed = f"os.path.exists('{FIX}')"
        conditions = [fixed if number == name == 0 else "True" for name in range(TESTS)]
        bodies = [
            _TEST.format(name=name, condition=condition, rounds=ROUNDS_OF_HASHING)
            for name, condition in enumerate(conditions)
        ]
        modules[f"bench_tests/test_{number}.py"] = _MODULE.format(number=number, tests="\n".join(bodies))
    return modules


def test_ids() -> list[str]:
    return [
        f"bench_tests.test_{number}.Test{number}.test_{name}"
        for number in range(MODULES)
        for name in range(TESTS)
    ]


def added(files: dict[str, str]) -> str:
    """A patch that adds files."""
    parts = []
    for name, text in files.items():
        lines = text.splitlines()
        parts.append(f"diff --git a/{name} b/{name}\nnew file mode 100644\n")
        if lines:
            body = "".join(f"+{line}\n" for line in lines)
            parts.append(f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}")
    return "".join(parts)


def bare(checkout: Path) -> float:
    """Seconds of the ordinary command in a checkout that is there."""
    began = time.monotonic()
    command = [sys.executable, "-m", "unittest", "-q", *test_ids()]
    subprocess.run(command, cwd=checkout, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


async def judged(task: CodingTask, source: Path, scratch: Path, cache: Path) -> float:
    """Seconds to a verdict on the fix; how the tests stand without it is known."""
    began = time.monotonic()
    score = await score_coding(
        task,
        added({FIX: "FIXED = True\n"}).encode(),
        source=source,
        scratch=scratch,
        open_sandbox=partial(open_sandbox, "bwrap"),
        report=scratch.with_suffix(".json"),
        cache=cache,
    )
    took = time.monotonic() - began
    assert score.verdict is Verdict.RESOLVED, score.explanation
    return took
