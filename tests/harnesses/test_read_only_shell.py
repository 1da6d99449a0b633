"""The check of shell commands that web agents of some harnesses go through, run by a real Node."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from clawbench.errors import MissingPartError
from clawbench.harnesses.runtimes import NODE, find_runtime
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS, READ_ONLY_SHELL
from clawbench.places import cache_directory


@pytest.fixture(scope="module")
def node() -> str:
    try:
        return find_runtime("any", [NODE], cache_directory()).node
    except MissingPartError:
        return shutil.which("node") or pytest.skip("Node is not installed")


CASES = {
    "cat /my-info/a.json | head -c 80": True,
    "jq '.a | .b' /my-info/a.json 2>/dev/null | sort": True,
    'grep -n "a b" /my-info/* && wc -l x;': True,
    "find /my-info -name '*.pdf' || ls": True,
    "ls; python3 -V": False,
    "/usr/bin/cat x": False,
    "cat $(python3)": False,
    'cat "$(python3)"': False,
    "cat `id`": False,
    "cat x > y": False,
    "ls & id": False,
    "ls\nid": False,
    "A=1 ls": False,
    '"python3" -V': False,
    "find / -exec rm {} ;": False,
    "sort -ro out in": False,
    "cat <(id)": False,
    "sort x 2>&1 | uniq -cf 1 | uniq -s 2 y": True,
    "uniq in out": False,
    "uniq - out": False,
    "uniq -c -- in out": False,
    "cat x >/dev/nullable": False,
    "": False,
}


def test_only_what_reads_may_be_run(node: str) -> None:
    """One process asks for all: starting Node takes longer than the answers."""
    asking = "const [check, allowed, cases] = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    asking += "const {refusal} = require(check);"
    asking += "console.log(JSON.stringify(cases.map(text => refusal(text, allowed) === null)));"
    given = json.dumps([str(READ_ONLY_SHELL), READ_ONLY_COMMANDS, list(CASES)])
    answer = subprocess.run([node, "-e", asking], input=given, capture_output=True, text=True, check=True)
    assert dict(zip(CASES, json.loads(answer.stdout), strict=True)) == CASES


def test_as_a_hook_it_refuses_with_a_reason(node: str) -> None:
    given = json.dumps({"tool_input": {"command": "touch x"}})
    command = [node, str(READ_ONLY_SHELL), *READ_ONLY_COMMANDS]
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert answer.stderr.startswith("Refused: touch may not be used, only: ls, cat")
