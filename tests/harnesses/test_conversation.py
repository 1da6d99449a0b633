"""What the agent sends and keeps, without a sandbox: requests, retries, long conversations, odd answers."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from clawbench.harnesses.reference.agent.chat import (
    LONGEST_WAIT_S,
    ModelError,
    parse_answer,
    pause,
    seconds_of,
)
from clawbench.harnesses.reference.agent.history import EMPTIED, KEPT_RESULTS, as_sent_back, shorten, size
from clawbench.harnesses.reference.agent.keys import events_of
from clawbench.harnesses.reference.agent.text import cut_middle, parts_of
from clawbench.harnesses.reference.agent.tools import Tool, Toolbox


def conversation(results: int, chars: int) -> list[dict[str, Any]]:
    turns = [
        [{"role": "assistant", "content": "", "tool_calls": []}, {"role": "tool", "content": "x" * chars}]
        for _ in range(results)
    ]
    return [{"role": "user", "content": "task"}, *(message for turn in turns for message in turn)]


def test_a_long_conversation_loses_its_oldest_results_first() -> None:
    messages = conversation(20, 1000)
    assert not shorten(messages, limit=30_000)
    assert shorten(messages, limit=15_000)
    assert size(messages) <= 7_500
    emptied = [message["content"] == EMPTIED for message in messages if message["role"] == "tool"]
    assert emptied == sorted(emptied, reverse=True)
    assert not any(emptied[-KEPT_RESULTS:])
    assert messages[0]["content"] == "task"
    assert not shorten(messages, limit=15_000)


def test_the_last_results_are_kept_whatever_they_weigh() -> None:
    messages = conversation(KEPT_RESULTS, 10_000)
    assert not shorten(messages, limit=100)


def test_answers_are_sent_back_in_a_form_that_providers_take() -> None:
    odd = {
        "content": None,
        "reasoning_content": "hm",
        "refusal": None,
        "tool_calls": [
            {"id": "a", "function": {"name": "read", "arguments": '{"path": "x"}'}},
            {"function": {"name": "read", "arguments": '{"path": '}},
            {"id": "c", "function": {"name": None, "arguments": {"path": "y"}}},
            "nonsense",
        ],
    }
    message = as_sent_back(odd)
    assert message["content"] == ""
    assert message["reasoning_content"] == "hm"
    assert "refusal" not in message
    functions = [call["function"] for call in message["tool_calls"]]
    assert functions[0] == {"name": "read", "arguments": '{"path": "x"}'}
    assert json.loads(functions[1]["arguments"]) == {"malformed_arguments": '{"path": '}
    assert functions[2] == {"name": "", "arguments": '{"path": "y"}'}
    assert all(call["id"] and call["type"] == "function" for call in message["tool_calls"])


def test_pauses_grow_are_bounded_and_heed_the_server() -> None:
    assert pause(1, None) < 1.5 < pause(3, None) < 6
    assert pause(20, None) == LONGEST_WAIT_S
    assert pause(1, 7.0) == 7.0
    assert pause(1, 3600.0) == LONGEST_WAIT_S
    assert seconds_of("1.5") == 1.5
    assert seconds_of(None) is seconds_of("soon") is None
    in_a_minute = seconds_of(formatdate(time.time() + 60, usegmt=True))
    assert in_a_minute is not None
    assert 50 < in_a_minute <= 61


def test_refusals_tell_what_the_server_said() -> None:
    with pytest.raises(ModelError, match="HTTP 402: no credit") as refused:
        parse_answer(402, b"no credit")
    assert not refused.value.too_long
    with pytest.raises(ModelError) as long:
        parse_answer(400, b"maximum context length is 8192 tokens")
    assert long.value.too_long


async def _echo(**arguments: Any) -> str:
    return json.dumps(arguments)


ECHO = Tool(
    "echo",
    "",
    _echo,
    {"n": {"type": "integer"}, "flag": {"type": "boolean"}, "text": {"type": "string"}},
    ["n"],
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ('{"n": 3}', '{"n": 3}'),
        ('{"n": "3", "flag": "True"}', '{"n": 3, "flag": true}'),
        ('{"n": "[12]", "text": 5}', '{"n": 12, "text": "5"}'),
        ('{"n": 2.0, "text": null}', '{"n": 2}'),
        ('{"n": 2.5}', "error: n of echo must be of type integer, not 2.5"),
        ('{"n": true}', "error: n of echo must be of type integer, not true"),
        ('{"n": 1, "flag": "maybe"}', 'error: flag of echo must be of type boolean, not "maybe"'),
        ("{}", "error: echo lacks n"),
        ("", "error: echo lacks n"),
        ("[1]", "error: the arguments of echo must be a JSON object"),
        ('{"n": 1, "x": 2}', "error: echo has no parameter x"),
    ],
)
async def test_arguments_are_checked_and_forgiven_where_clear(arguments: str, result: str) -> None:
    assert (await Toolbox([ECHO]).call("echo", arguments)).startswith(result)


def test_long_texts_keep_their_ends() -> None:
    cut = cut_middle("a" * 500 + "b" * 500, 100)
    assert cut.startswith("a" * 40 + "\n[… 900 characters")
    assert cut.endswith("b" * 60)
    parts = parts_of([f"line {i}" for i in range(100)], limit=100)
    assert all(len(part) <= 100 for part in parts)
    assert "\n".join(parts).split("\n") == [f"line {i}" for i in range(100)]


def test_characters_become_key_events() -> None:
    down, up = events_of("a")
    assert (down["type"], down["text"], down["code"]) == ("keyDown", "a", "KeyA")
    assert (up["type"], up["key"]) == ("keyUp", "a")
    assert "text" not in up
    assert events_of("\n")[0]["key"] == "Enter"
    assert events_of("茶")[0]["text"] == "茶"
