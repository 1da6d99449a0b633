"""Deciding what a scripted model says, from the conversation alone. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clawbench.gateway.exchange import Message, Prompt
from clawbench.gateway.scripted.faults import Fault
from clawbench.gateway.scripted.policy import Policy, Rule, When
from clawbench.gateway.scripted.template import fill


@dataclass(frozen=True)
class Move:
    """What the model says and does in one turn."""

    text: str | None = None
    thinking: str | None = None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    fault: Fault | None = None
    """What goes wrong with it."""


@dataclass(frozen=True)
class Situation:
    """What the rules may look at."""

    tools: frozenset[str]
    turn: int
    last: str
    conversation: str
    called: str


def situation_of(prompt: Prompt) -> Situation:
    """What a request shows, whatever API it came by."""
    texts = [_text(message) for message in prompt.messages]
    spoken = [prompt.system, *texts] if prompt.system else texts
    return Situation(
        tools=frozenset(str(tool.get("name")) for tool in prompt.tools),
        turn=sum(message["role"] == "assistant" for message in prompt.messages),
        last=spoken[-1] if spoken else "",
        conversation="\n".join(spoken),
        called="\n".join(_calls(prompt)),
    )


def decide(policy: Policy, situation: Situation) -> Move:
    """The answer of the first rule that applies; where none does, a text that says so."""
    for number, rule in enumerate(policy.rules, 1):
        found = match(rule.when, situation)
        if found is not None:
            return _play(policy, number, rule, found)
    return Move(text=f"Scripted policy {policy.name!r} has no rule for this turn (turn {situation.turn}).")


def match(when: When, situation: Situation) -> dict[str, str] | None:
    """What the patterns found, by name; None where a condition does not hold."""
    if not situation.tools.issuperset(when.tools) or when.turn not in (None, situation.turn):
        return None
    absent = ((when.not_conversation, situation.conversation), (when.not_called, situation.called))
    if any(pattern and re.search(pattern, text, re.MULTILINE) for pattern, text in absent):
        return None
    found: dict[str, str] = {}
    wanted = (
        (when.called, situation.called),
        (when.conversation, situation.conversation),
        (when.last, situation.last),
    )
    for pattern, text in wanted:
        if pattern is None:
            continue
        hit = re.search(pattern, text, re.MULTILINE)
        if hit is None:
            return None
        found |= {name: value or "" for name, value in hit.groupdict().items()}
    return found


def _play(policy: Policy, number: int, rule: Rule, found: Mapping[str, str]) -> Move:
    try:
        calls = tuple((call.tool, fill(call.arguments, found)) for call in rule.calls)
    except ValueError as error:
        return Move(text=f"Scripted policy {policy.name!r}, rule {number}: {error}.")
    return Move(
        text=fill(rule.text, found), thinking=fill(rule.thinking, found), calls=calls, fault=rule.fault
    )


def _text(message: Message) -> str:
    return "\n".join(block["text"] for block in message["content"] if block["type"] == "text")


def _calls(prompt: Prompt) -> list[str]:
    blocks = (block for message in prompt.messages for block in message["content"])
    return [
        f"{block['name']} {json.dumps(block['arguments'], ensure_ascii=False)}"
        for block in blocks
        if block["type"] == "toolCall"
    ]
