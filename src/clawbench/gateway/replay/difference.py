"""Where two requests part, for a person to read. Pure."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clawbench.gateway.dialects import Dialect
from clawbench.gateway.exchange import Block, Message
from clawbench.gateway.replay.normal import Normaliser

LONGEST_LINE = 120
_SAID = frozenset(("messages", "input", "contents", "system", "instructions", "systemInstruction", "tools"))
_SENTENCE = re.compile(r"(?<=[.!?;:,]) +")


@dataclass(frozen=True)
class Difference:
    """The first part of a request that is not as recorded."""

    part: str
    diff: str


def first_difference(
    recorded: Mapping[str, Any],
    asked: Mapping[str, Any],
    dialect: Dialect,
    normaliser: Normaliser,
    recorded_as: str,
) -> Difference:
    """The first part that differs: system prompt, tools, a message, or the rest of the request."""
    before, after = _parts(recorded, dialect, normaliser), _parts(asked, dialect, normaliser)
    for slot in [*before, *(slot for slot in after if slot not in before)]:
        one, other = before.get(slot, _ABSENT), after.get(slot, _ABSENT)
        if one != other:
            part = (other if one is _ABSENT else one).title
            return Difference(
                part, _unified(one.text, other.text, f"{recorded_as}, {one.title}", f"now, {other.title}")
            )
    one, other = (_Part("request", _json(normaliser.request(request))) for request in (recorded, asked))
    return Difference("request", _unified(one.text, other.text, f"{recorded_as}, request", "now, request"))


@dataclass(frozen=True)
class _Part:
    title: str
    text: str


_ABSENT = _Part("nothing", "")


def _parts(request: Mapping[str, Any], dialect: Dialect, normaliser: Normaliser) -> dict[str, _Part]:
    """What a request consists of, in the order in which it is compared; messages by their place."""
    prompt = dialect.read_prompt(request)
    parts = {
        "system": _Part("system prompt", normaliser.text(prompt.system)),
        "tools": _Part("tools", _json(normaliser.value(prompt.tools))),
    }
    for number, message in enumerate(prompt.messages, 1):
        parts[str(number)] = _Part(f"message {number} ({message['role']})", normaliser.text(_said(message)))
    rest = {name: value for name, value in request.items() if name not in _SAID}
    parts["settings"] = _Part("settings", _json(normaliser.request(rest)))
    return parts


def _said(message: Message) -> str:
    return "\n".join(_block(block) for block in message["content"])


def _block(block: Block) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return f"[thinking] {block.get('thinking')}"
        case "toolCall":
            return f"[calls {block['name']}] {_json(block['arguments'])}"
        case _:
            return _json({name: value for name, value in block.items() if name != "id"})


def _unified(before: str, after: str, before_as: str, after_as: str) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), before_as, after_as, lineterm="")
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Long lines are broken at sentences, so that a word that changed does not show a page of text."""
    lines: list[str] = []
    for line in text.splitlines():
        lines += [line] if len(line) <= LONGEST_LINE else _SENTENCE.split(line)
    return lines


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
