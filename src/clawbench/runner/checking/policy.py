"""From the lines of a rehearsal to the policy of a scripted model. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from clawbench.harnesses.rehearsal import Line
from clawbench.results import Usage

SAID = Usage(input=1000, cache_read=200, output=30)
"""What the scripted model says that each of its answers took."""


def rehearse(lines: Sequence[Line], forbidden: Line | None = None) -> dict[str, Any]:
    """Says the lines one after another, the forbidden one first.

    A line is known to be said by what the conversation shows, not by the number of calls: harnesses ask for
    titles and the like in between, without tools.
    """
    spoken = [*([forbidden] if forbidden else []), *lines]
    rules = [_rule(spoken, number, _offered(lines, line)) for number, line in enumerate(spoken)]
    return _policy(list(reversed(rules)))


def never_stop(line: Line) -> dict[str, Any]:
    """Says the same line again and again."""
    return _policy([_said(line, {"tools": _needed(line)})])


def _policy(rules: list[dict[str, Any]]) -> dict[str, Any]:
    aside = {"text": "A rehearsal.", "fault": {"usage": _usage()}}
    return {"rules": [*rules, aside]}


def _rule(spoken: Sequence[Line], number: int, offered: list[str]) -> dict[str, Any]:
    line = spoken[number]
    calls = sum(one.tool is not None and one.shown is None for one in spoken[:number])
    before = spoken[number - 1] if number else None
    when: dict[str, Any] = {"tools": offered}
    if calls:
        when["called"] = _at_least(calls)
    if before is not None and (before.shown or before.tool is None):
        when["conversation"] = before.shown or re.escape(before.text or "")
    if line.shown is not None:
        when["not_conversation"] = line.shown
    elif line.tool is not None:
        when["not_called"] = _at_least(calls + 1)
    if line.after is not None:
        when["last"] = line.after
    return _said(line, when)


def _at_least(calls: int) -> str:
    return rf"\A(?:[^\n]*\n){{{calls - 1}}}[^\n]"


def _said(line: Line, when: dict[str, Any]) -> dict[str, Any]:
    rule: dict[str, Any] = {"when": when, "fault": {"usage": _usage()}}
    if line.text is not None:
        rule["text"] = line.text
    if line.tool is not None:
        rule["calls"] = [{"tool": line.tool, "arguments": dict(line.arguments)}]
    return rule


def _offered(lines: Sequence[Line], line: Line) -> list[str]:
    """Tools by which the request that this line answers is known; a forbidden one is not offered."""
    if line in lines:
        return _needed(line)
    return [tool for one in lines for tool in _needed(one)][:1]


def _needed(line: Line) -> list[str]:
    """What is said by its traces may have been no call of a tool in the API at hand."""
    return [line.tool] if line.tool and line.shown is None else []


def _usage() -> dict[str, int]:
    return SAID.model_dump()
