"""The check of shell commands that web agents of some harnesses go through, run by a real Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from clawbench.errors import MissingPartError
from clawbench.harnesses.read_only_shell import READ_ONLY_SHELL, check_hooks
from clawbench.harnesses.runtimes import NODE, InstalledPart, Runtime, find_runtime
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS
from clawbench.places import cache_directory

from .stage import run_context


@pytest.fixture(scope="module")
def node() -> str:
    try:
        return find_runtime("any", [NODE], cache_directory()).node
    except MissingPartError:
        return shutil.which("node") or pytest.skip("Node is not installed")


READS = (
    "cat /my-info/a.json | head -c 80",
    "jq '.a | .b' /my-info/a.json 2>/dev/null | sort",
    'grep -n "a b" /my-info/* && wc -l x;',
    "find /my-info -name '*.pdf' || ls",
    "find /my-info -type f -newer /my-info/a -printf '%p\\n'",
    "sort x 2>&1 | uniq -cf 1 | uniq -s 2 y",
    "sort -t, -k2,2nr /my-info/*.csv | cut -d, -f1",
    "sort ./*.csv",
    "cat *.json >/dev/null",
    "file -b --mime-type /my-info/*",
    "grep -o 'o$' x",
    "tr -d '{}' | tail -n +2",
    *('grep "foo$" x', 'grep -E "(foo$|bar$)" x', 'grep "a$ b" x', "grep foo$ x", "grep foo$"),
    *("ls x 1>/dev/null", "ls &>/dev/null", "ls /my-info>/dev/null", "ls x2>/dev/null", "ls >>/dev/null"),
    *("cat x 2>&1 >/dev/null", "ls x >&2", "ls>/dev/null 2>&1;ls"),
    *("cat < y", "cat<y", "uniq < in", "< in uniq -c", "tr a b 0< '/my-info/a b'", "cat < y>/dev/null"),
    *("uniq -- in", "uniq -c -- -in", "uniq -f 1 -- in"),
    *("ls\ncat x", "ls\n\ncat x\n", "cat x |\n  sort", "ls &&\n ls;\nls", "cat 'x\ny'", "\n ls\n"),
)
DOES_MORE = (
    *("sort -o out in", "sort in -oout", "sort -ro out in", "sort -zno out in", "sort --output=out in"),
    *("sort --out out in", "sort '-o' out in", 'sort "-o" out in', "sort -'o' out in", r"sort \-o out in"),
    *("sort {-o,out} in", "sort -* in", "sort * in", "sort ?o in", "sort [-]o in", "sort in | sort -o out"),
    *("sort --compress-program=sh -S 1 in", "sort --co sh in"),
    *(
        "uniq in out",
        "uniq - out",
        "uniq -c in out",
        "uniq -c -- in out",
        "uniq -- -f out",
        "uniq in -- out",
        "uniq -- in -- out",
        "uniq < in in out",
        "uniq in 12>/dev/null",
        "uniq -f 1 in out",
        "uniq -w1 in out",
    ),
    *("uniq --skip-fields 1 in out", "uniq --skip-f 1 in out", "uniq *", "uniq /my-info/*", "uniq {in,out}"),
    *("find . -delete", "find . -name x -delete", "find / -exec rm {} ;", "find . -execdir id ';'"),
    *("find . -ok id ';'", "find . -okdir id ';'", "find . -fprint out", "find . -fprint0 out"),
    *(
        "find . -fprintf out %p",
        "find . -fls out",
        "find . '-delete'",
        r"find . -d\elete",
        "find . -{delete,x}",
    ),
    *("find . -del*", "find *"),
    *("file -C -m magic", "file -0C -m magic", "file --compile -m magic", "file --co -m magic"),
    *(
        "cat x > y",
        "cat x >> y",
        "cat x >| y",
        "cat x >/dev/nullable",
        "ls 2> y",
        "ls &> y",
        "ls >& y",
        "ls 1>y",
        "ls x>y",
        "ls >>y",
        "cat <<< y",
        "cat << y\nx\ny",
        "cat <> y",
        "cat < <(id)",
        "cat <&3",
        "cat <",
        "cat < | ls",
        "cat < >/dev/null",
        "cat < /dev/tcp/127.0.0.1/80",
        "cat < '/dev/t'cp/127.0.0.1/80",
        "< x",
    ),
    *(
        "cat x | tee y",
        "sed -i s/a/b/ x",
        "sed -n 'w y' x",
        "awk 'BEGIN {system(\"id\")}'",
        "awk '{print > \"y\"}' x",
    ),
    *("git config alias.x '!id'", "git --version", "ls | xargs touch", "env touch y", "env", "printenv"),
    *(
        "tar xf x --to-command=id",
        "tar cf y x",
        "date -s 0",
        "split x",
        "dd if=x of=y",
        "cp x y",
        "mv x y",
        "ln x y",
    ),
    *(
        "touch y",
        "mkdir y",
        "rm x",
        "truncate -s0 x",
        "install x y",
        "chmod +x x",
        "csplit x 1",
        "shuf -o y x",
    ),
    *(
        "sh -c id",
        "bash -c id",
        "python3 -V",
        "node -e 1",
        "perl -e 1",
        "nohup ls",
        "timeout 1 ls",
        "nice ls",
    ),
    *(
        "command ls",
        "builtin cd",
        "exec ls",
        "eval ls",
        "source x",
        ". x",
        "time ls",
        "! ls",
        "cd /",
        "set -x",
    ),
    *(
        "ls; python3 -V",
        "ls && touch y",
        "ls || touch y",
        "ls & id",
        "ls |& tee y",
        "ls\nid",
        "ls\n\nid",
        "ls\n; ls",
        "ls |\n tee y",
        "ls\nsort -o out in",
        "ls\rid",
        "ls >&1\r ",
        "ls >/dev/null\u00a0",
        "ls\u2028id",
    ),
    *(
        "/usr/bin/cat x",
        "./cat x",
        "A=1 ls",
        "PATH=. ls",
        '"python3" -V',
        r"\python3 -V",
        "c{a,}t x",
        "ca? x",
    ),
    *(
        "cat $(python3)",
        'cat "$(python3)"',
        "cat `id`",
        'cat "`id`"',
        "cat <(id)",
        "cat $HOME",
        "cat ${x:=y}",
    ),
    *(
        "cat $'x'",
        'cat $"x"',
        'cat "$$"',
        'cat "a$(id)$"',
        'cat "$x$"',
        "(ls)",
        "{ ls; }",
        "f() { ls; }",
        "if ls; then ls; fi",
        "ls # x",
        "ls \\\n-l",
        "cat 'x",
        "",
        "|",
        "; ls",
    ),
)
CASES = {**dict.fromkeys(READS, True), **dict.fromkeys(DOES_MORE, False)}


def test_only_what_reads_may_be_run(node: str) -> None:
    """One process asks for all: starting Node takes longer than the answers."""
    asking = "const [check, allowed, cases] = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    asking += "const {refusal} = require(check);"
    asking += "console.log(JSON.stringify(cases.map(text => refusal(text, allowed) === null)));"
    given = json.dumps([str(READ_ONLY_SHELL), READ_ONLY_COMMANDS, list(CASES)])
    answer = subprocess.run([node, "-e", asking], input=given, capture_output=True, text=True, check=True)
    assert dict(zip(CASES, json.loads(answer.stdout), strict=True)) == CASES


def test_as_a_hook_it_refuses_with_a_reason(node: str) -> None:
    reason = refused_as_a_hook(node, json.dumps({"tool_input": {"command": "touch x"}}))
    assert reason.startswith("Refused: touch may not be used, only: ls, cat")


def test_the_reason_says_what_is_not_allowed(node: str) -> None:
    reason = refused_as_a_hook(node, json.dumps({"tool_input": {"command": "cat $HOME"}}))
    assert "no $ or ` outside '…'" in reason
    assert "no redirections but < FILE, >/dev/null and 2>&1" in reason


@pytest.mark.parametrize("given", ["not json", "", "null", "[]", '{"tool_input": 1}'])
def test_what_cannot_be_checked_is_refused(node: str, given: str) -> None:
    assert refused_as_a_hook(node, given).startswith("Refused: ")


async def test_a_check_that_does_not_start_refuses_as_well(tmp_path: Path) -> None:
    """As claude-code and codex are told to start it, with a Node that is not there."""
    runtime = Runtime({NODE.name: InstalledPart(tmp_path, NODE.version, "")})
    async with run_context(tmp_path, "web", {}, provider="none") as context:
        hooks = check_hooks(context, runtime, "Bash")
    (hook,) = hooks["hooks"]["PreToolUse"][0]["hooks"]
    ended = await anyio.run_process(["sh", "-c", hook["command"]], check=False)
    assert ended.returncode == 2


def refused_as_a_hook(node: str, given: str) -> str:
    command = [node, str(READ_ONLY_SHELL), *READ_ONLY_COMMANDS]
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    return answer.stderr
