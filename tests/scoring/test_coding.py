"""Verdicts on real patches, with real git and real sandboxes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError, SandboxError
from clawbench.results import Cause, Verdict
from tests.scoring.coding_case import Case, bundled_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

ONE = "tests.test_settings.OverrideTest.test_second_override_of_a_key_is_seen"
OTHER = "tests.test_settings.OverrideTest.test_override_lasts_as_long_as_its_block"


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Case:
    return Case(tmp_path, bundled_task(fail_to_pass=[ONE], pass_to_pass=[OTHER]))


def test_gold_patch_resolves_the_bundled_task(case: Case) -> None:
    score = case.score(case.task.patch.encode())
    assert (score.verdict, score.cause) == (Verdict.RESOLVED, Cause.NONE), score.explanation
    assert {check.name for check in score.checks} == {*case.task.fail_to_pass, *case.task.pass_to_pass}
    assert all(check.ok for check in score.checks)
    report = json.loads(case.report.read_text())
    assert report["command"] == "{unittest}"
    assert report["verdict"] == "resolved"
    assert not report["before"]["cached"]
    for test in case.task.fail_to_pass:
        assert report["before"]["tests"][test]["status"] == "failed"
        assert report["after"]["tests"][test]["status"] == "passed"


def test_empty_patch_does_not(small: Case) -> None:
    score = small.score(b"")
    assert (score.verdict, score.cause) == (Verdict.UNRESOLVED, Cause.AGENT)
    assert {check.name: check.ok for check in score.checks} == {ONE: False, OTHER: True}


def test_patch_that_breaks_something_else_is_unresolved(small: Case) -> None:
    patch = small.patch_of({"strata/convert.py": "raise ImportError\n"}, with_fix=True)
    score = small.score(patch)
    assert (score.verdict, score.cause) == (Verdict.UNRESOLVED, Cause.AGENT)
    assert not any(check.ok for check in score.checks)


@pytest.mark.parametrize(
    "patch",
    [
        b"not a patch\n",
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        b"diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+b\n",
        b"diff --git a/.git/x b/.git/x\nnew file mode 100644\n",
    ],
)
def test_patch_that_does_not_apply(small: Case, patch: bytes) -> None:
    score = small.score(patch)
    assert (score.verdict, score.cause) == (Verdict.APPLY_FAILED, Cause.AGENT)
    assert json.loads(small.report.read_text())["verdict"] == "apply_failed"


def test_patch_cut_short_does_not_apply(small: Case) -> None:
    assert small.score(small.task.patch.encode()[:-20]).verdict is Verdict.APPLY_FAILED


def test_endless_patch_times_out(small: Case) -> None:
    small.cache = small.directory / "kept"
    small.score(b"")
    small.time_limit_s = 1.5
    score = small.score(small.patch_of({"strata/__init__.py": "while True: pass\n"}))
    assert (score.verdict, score.cause) == (Verdict.TIMEOUT, Cause.AGENT)


def test_before_is_measured_once(small: Case) -> None:
    small.cache = small.directory / "kept"
    small.score(b"")
    assert not json.loads(small.report.read_text())["before"]["cached"]
    first = json.loads(small.report.read_text())["before"]["tests"]
    small.score(b"")
    again = json.loads(small.report.read_text())["before"]
    assert again["cached"]
    assert again["tests"] == first
    small.task = bundled_task(fail_to_pass=[ONE], pass_to_pass=[])
    small.score(b"")
    assert not json.loads(small.report.read_text())["before"]["cached"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"fail_to_pass": [OTHER], "pass_to_pass": []}, "pass without any fix"),
        ({"fail_to_pass": [ONE], "pass_to_pass": [ONE.replace("key", "ghost")]}, "should pass without a fix"),
    ],
)
def test_broken_task_is_not_the_agents_fault(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    case = Case(tmp_path, bundled_task(**fields))
    score = case.score(case.task.patch.encode())
    assert (score.verdict, score.cause) == (Verdict.ERROR, Cause.TASK)
    assert words in score.explanation


def test_test_patch_that_does_not_apply_is_named(tmp_path: Path) -> None:
    case = Case(tmp_path, bundled_task(test_patch="nonsense"))
    with pytest.raises(InputError, match="test_patch"):
        case.score(b"x")


def test_sandbox_that_cannot_be_built_is_infrastructure(small: Case) -> None:
    def broken(**_: Any) -> Any:
        raise SandboxError("no namespaces today")

    small.open_sandbox = broken
    score = small.score(b"x")
    assert (score.verdict, score.cause) == (Verdict.ERROR, Cause.INFRASTRUCTURE)
    assert "no namespaces" in score.explanation


@pytest.mark.parametrize("command", ["/no/such/program {unittest}", "/no/such/program"])
def test_command_that_cannot_run_is_infrastructure(tmp_path: Path, command: str) -> None:
    case = Case(tmp_path, bundled_task(fail_to_pass=[ONE], pass_to_pass=[], test_command=command))
    score = case.score(b"x")
    assert (score.verdict, score.cause) == (Verdict.ERROR, Cause.INFRASTRUCTURE)


def test_plain_command_is_judged_by_its_exit_code(tmp_path: Path) -> None:
    case = Case(
        tmp_path, bundled_task(fail_to_pass=[ONE], pass_to_pass=[OTHER], test_command="{python} -m unittest")
    )
    assert case.score(case.task.patch.encode()).verdict is Verdict.RESOLVED
    assert case.score(b"").verdict is Verdict.UNRESOLVED


def test_tests_have_no_network_no_git_and_no_host(small: Case) -> None:
    probe = """
import os, socket
paths = ("/testbed/.git", "/root/.pyenv/version", "/etc/shadow", "/var/lib/dpkg")
reached = [path for path in paths if os.path.exists(path)]
try:
    socket.create_connection(("127.0.0.1", 22), 1)
    reached.append("loopback")
except ConnectionRefusedError:
    pass
reached += [name for _, name in socket.if_nameindex() if name != "lo"]
print("REACHED", reached)
from strata.settings import Settings
"""
    small.score(small.patch_of({"strata/__init__.py": probe}))
    assert "REACHED []" in json.loads(small.report.read_text())["output_tail"]
