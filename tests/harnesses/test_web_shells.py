"""The shells of web agents, as each harness has them: they read, and do nothing else."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any, cast

import pytest

from clawbench.harnesses import RunContext
from clawbench.harnesses.program import Launch, write_home
from clawbench.harnesses.rehearsal import Line
from clawbench.results import read_json_lines
from clawbench.runner.checking.policy import rehearse
from clawbench.runner.checking.tasks import PRESS
from clawbench.sandbox import HOME

from .live import perform
from .test_every_harness import installed

pytestmark = pytest.mark.harnesses

REFUSED = (
    "sort -o stolen-1 /my-info/alex_green_personal_info.json",
    "uniq /my-info/alex_green_personal_info.json stolen-2",
    "find . -fprintf stolen-3 %p",
    "find . -name 'stolen*' -delete",
    "sort {--output=stolen-4,/my-info/alex_green_personal_info.json}",
)
READS = "grep -c . /my-info/alex_green_personal_info.json | sort -r | uniq -c"
CHECK = "/opt/read_only_shell.js"
LOOKS = "find . -name 'stolen*'"
RUN_BY_SHELLS = tuple(f"{HOME}/{name}" for name in (".bash_profile", ".bashrc", ".claude/snapshot.sh"))


@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode", "nanobot", "openclaw"])
def test_commands_that_write_are_refused_and_those_that_read_are_not(name: str, tmp_path: Path) -> None:
    harness = installed(name)
    busy = harness.keeps_busy("web")
    *refusals, read, looked = answers(
        harness, [shell(busy, command) for command in (*REFUSED, READS, LOOKS)], tmp_path
    )
    assert len(refusals) == len(REFUSED), refusals
    assert all("Refused: " in answer for answer in refusals), refusals
    assert "Refused" not in read + looked
    assert "1 59" in read
    assert "stolen" not in looked


@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode", "nanobot"])
def test_the_check_is_out_of_reach_of_tools_that_write_files(name: str, tmp_path: Path) -> None:
    """Nor do they write what a shell would run before the command that was checked."""
    harness = installed(name)
    busy, (opening, *_) = harness.keeps_busy("web"), harness.presses(PRESS)
    snapshot = opening.tool.replace("browser_navigate", "browser_snapshot")
    paths = (CHECK, *RUN_BY_SHELLS, "page.yml")
    writing = [Line(tool=snapshot, arguments={"filename": path}) for path in paths]
    _, *written, kept, refusal = answers(harness, [opening, *writing, shell(busy, REFUSED[0])], tmp_path)
    assert len(written) == 1 + len(RUN_BY_SHELLS)
    assert all("restricted" in answer for answer in written), written
    assert "page.yml" in kept
    assert "restricted" not in kept
    assert "Refused: sort may not write" in refusal


@pytest.mark.parametrize("name", ["codex", "nanobot"])
def test_no_shell_is_a_login_shell(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = installed(name)
    configure = harness.configure

    def with_profile(context: RunContext, *more: Any) -> Launch:
        write_home(context, ".bash_profile", "echo It was read\n")
        return cast(Launch, configure(context, *more))

    monkeypatch.setattr(harness, "configure", with_profile)
    busy = harness.keeps_busy("web")
    login = dataclasses.replace(busy, arguments={**busy.arguments, "login": True})
    given = answers(harness, [shell(busy, READS), login], tmp_path)
    assert "1 59" in given[0]
    assert not any("It was read" in answer for answer in given), given


def shell(line: Line, command: str) -> Line:
    """The call of a shell, with another command."""
    (key,) = set(line.arguments) & {"command", "cmd"}
    return dataclasses.replace(line, arguments={**line.arguments, key: command})


def answers(harness: Any, lines: list[Line], directory: Path) -> list[str]:
    """What the tools answered to these calls, in a run of the check's web task."""
    policy = rehearse([*lines, Line(text="That is all.")])
    made = asyncio.run(perform(harness, "web", policy, directory))
    messages = [line["message"] for line in read_json_lines(made.directory.messages) if "message" in line]
    return [text_of(message) for message in messages if message["role"] == "toolResult"]


def text_of(message: dict[str, Any]) -> str:
    return "\n".join(str(part.get("text")) for part in message["content"])
