"""`harness check` says what works, and does not call ok what does not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from clawbench.gateway.exchange import Prompt, tool_call_block
from clawbench.gateway.scripted.engine import Move, decide, situation_of
from clawbench.gateway.scripted.policy import Policy
from clawbench.harnesses import AgentResult
from clawbench.harnesses.null import NullHarness
from clawbench.harnesses.reference.adapter import ReferenceHarness
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line
from clawbench.runner.checking import KindChecked, Status, check, check_harness
from clawbench.runner.checking.policy import rehearse

WORK = (Line(tool="run", arguments={"command": "x"}), Line(text="done"))
BANNED = Line(tool="fetch")
TOOLS = [{"name": "run"}]


def answer(policy: Policy, *calls: str, tools: Sequence[dict[str, Any]] = TOOLS, last: str = "") -> Move:
    """What a model that plays the policy says after these tool calls."""
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "do it"}]}]
    for name in calls:
        messages.append({"role": "assistant", "content": [tool_call_block("id", name, {})]})
        messages.append({"role": "toolResult", "content": [{"type": "text", "text": last}]})
    return decide(policy, situation_of(Prompt(system="", tools=list(tools), messages=messages)))


def policy_of(lines: Sequence[Line], forbidden: Line | None = None) -> Policy:
    return Policy.model_validate({"name": "rehearsal", **rehearse(lines, forbidden)})


def test_lines_are_said_one_after_another_the_forbidden_one_first() -> None:
    policy = policy_of(WORK, BANNED)
    assert answer(policy).calls == (("fetch", {}),)
    assert answer(policy, "fetch").calls == (("run", {"command": "x"}),)
    assert answer(policy, "fetch", "run").text == "done"


def test_a_question_aside_without_tools_takes_no_line() -> None:
    policy = policy_of(WORK)
    assert answer(policy, tools=[]).calls == ()
    assert answer(policy).calls == (("run", {"command": "x"}),)


def test_a_line_waits_for_what_it_needs_to_see_and_none_is_said_twice() -> None:
    lines = (*WORK[:1], Line(tool="run", arguments={"n": "${n:int}"}, after=r"number (?P<n>\d+)"), *WORK[1:])
    policy = policy_of(lines)
    assert answer(policy, "run", last="number 7").calls == (("run", {"n": 7}),)
    assert answer(policy, "run", last="nothing").calls == ()


def test_lines_of_a_harness_that_reads_commands_from_the_text() -> None:
    policy = policy_of((Line(text="<run>x</run>"), Line(text="done")))
    assert answer(policy, tools=[]).text == "<run>x</run>"
    said: list[Any] = [{"role": "assistant", "content": [{"type": "text", "text": "<run>x</run>"}]}]
    after = situation_of(Prompt(system="", tools=[], messages=said))
    assert decide(policy, after).text == "done"


def checked(harness: type[Any], output: Path, kind: str = "coding") -> KindChecked:
    return asyncio.run(check_harness(harness, output, kinds=(kind,))).kinds[kind]


def test_the_reference_harness_passes(tmp_path: Path) -> None:
    found = checked(ReferenceHarness, tmp_path)
    assert found.status is Status.OK, found.reason
    assert {name: one.status for name, one in found.findings.items()} == dict.fromkeys(
        ("work", "usage", "claim", "policy", "stop"), Status.OK
    )
    assert found.findings["claim"].detail == "equal"


def test_null_is_checked_for_doing_nothing(tmp_path: Path) -> None:
    found = checked(NullHarness, tmp_path)
    assert found.status is Status.OK, found.reason
    assert found.findings["stop"].status is Status.SKIPPED


class Idler(ReferenceHarness):
    def edits(self, edit: Edit) -> Sequence[Line]:
        return (Line(tool="shell", arguments={"command": "true"}), Line(tool="finish", arguments=_SUMMARY))


class Lenient(ReferenceHarness):
    def forbidden(self, kind: str) -> Forbidden:
        return Forbidden(Line(tool="shell", arguments={"command": "echo allowed"}), "no tool")


class Sluggish(ReferenceHarness):
    async def perform(self, agent: Any, prompt: str) -> AgentResult:
        try:
            return await super().perform(agent, prompt)
        except asyncio.CancelledError:
            await asyncio.sleep(0.5)
            raise


class Useless(NullHarness):
    asks_model = True


_SUMMARY = {"summary": "It is done."}


@pytest.mark.parametrize(
    ("harness", "wrong", "words"),
    [(Idler, "work", "the line was not changed"), (Lenient, "policy", "shell was answered: 'allowed")],
)
def test_what_does_not_work_is_not_ok(harness: type[Any], wrong: str, words: str, tmp_path: Path) -> None:
    found = checked(harness, tmp_path)
    assert found.status is Status.FAILED
    assert [name for name, one in found.findings.items() if one.status is Status.FAILED] == [wrong]
    assert words in found.reason


def test_a_stop_that_takes_too_long_is_not_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "STOP_S", 0.4)
    assert checked(Sluggish, tmp_path).findings["stop"].status is Status.FAILED


def test_what_cannot_be_checked_is_skipped_with_the_reason(tmp_path: Path) -> None:
    assert checked(Useless, tmp_path).reason == "null does not say how it is rehearsed"
