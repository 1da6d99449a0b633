"""The scripted model: its policy file, its decisions, its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError
from clawbench.gateway import load_policy
from clawbench.gateway.dialects.chat_request import read_prompt
from clawbench.gateway.exchange import Prompt
from clawbench.gateway.scripted.chat_shape import usage_object
from clawbench.gateway.scripted.counting import PromptCache, count, shared_prefix
from clawbench.gateway.scripted.engine import Move, decide, situation_of
from clawbench.gateway.scripted.policy import Policy
from clawbench.models import scripted_model
from clawbench.results import Price, Usage, read_json_lines

POLICY = r"""
description: Orders two
price: {input: 3.0, output: 15.0, cached_input: 0.3}
rules:
  - when: {tools: [browser_open], turn: 0}
    thinking: The shop first.
    calls:
      - tool: browser_open
        arguments: {url: "http://shop.test/"}
  - when:
      last: '^\[(?P<qty>\d+)\] .*Quantity'
      conversation: 'order for (?P<who>\w+)'
      not_conversation: 'sold out'
    text: Typing for ${who}.
    calls:
      - tool: browser_type
        arguments: {element: "${qty:int}", text: "2", where: ["field ${qty}", "$${HOME}"]}
      - tool: browser_click
        arguments: {element: 4, sure: true}
  - when: {called: 'browser_type .*"element": 7', not_called: finish}
    text: Already typed.
"""
TOOLS = [{"type": "function", "function": {"name": "browser_open"}}]


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    file = tmp_path / "orders.yaml"
    file.write_text(POLICY, encoding="utf-8")
    return load_policy(file)


def _request(*messages: tuple[str, Any], tools: Any = TOOLS, **more: Any) -> dict[str, Any]:
    said = [{"role": role, "content": content} for role, content in messages]
    return {"messages": said, "tools": tools, **more}


def _prompt(*messages: tuple[str, Any]) -> Prompt:
    return read_prompt(_request(*messages))


def test_loaded_policy(policy: Policy) -> None:
    assert (policy.name, policy.description, len(policy.rules)) == ("orders", "Orders two", 3)
    assert policy.price == Price(input=3.0, output=15.0, cached_input=0.3)


def test_first_rule_that_holds(policy: Policy) -> None:
    move = decide(policy, situation_of(_prompt(("user", "Place an order for Alex"))))
    assert move == Move(thinking="The shop first.", calls=(("browser_open", {"url": "http://shop.test/"}),))


def test_named_groups_become_text_and_numbers(policy: Policy) -> None:
    request = _request(
        ("user", "Place an order for Alex"),
        ("assistant", "ok"),
        ("tool", [{"type": "text", "text": "Shop\n[12] input Quantity\n[4] button Buy"}]),
    )
    move = decide(policy, situation_of(read_prompt(request)))
    assert move.text == "Typing for Alex."
    assert move.calls == (
        ("browser_type", {"element": 12, "text": "2", "where": ["field 12", "${HOME}"]}),
        ("browser_click", {"element": 4, "sure": True}),
    )


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(_request(("user", "x"), tools=[]), id="tool not offered"),
        pytest.param(_request(("user", "x"), ("assistant", "a"), ("user", "b")), id="other turn"),
        pytest.param(
            _request(("user", "order for Al, sold out"), ("assistant", "a"), ("user", "[1] Quantity")),
            id="forbidden text",
        ),
        pytest.param(_request(("assistant", "a"), ("user", "[1] Quantity")), id="missing text"),
        pytest.param({"messages": "nonsense", "tools": 3}, id="nonsense"),
    ],
)
def test_no_rule_says_so(policy: Policy, request_: dict[str, Any]) -> None:
    move = decide(policy, situation_of(read_prompt(request_)))
    assert move.calls == ()
    assert "'orders' has no rule for this turn" in (move.text or "")


def test_what_was_called_counts(policy: Policy) -> None:
    call = {"id": "1", "function": {"name": "browser_type", "arguments": '{"element":7}'}}
    request = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    assert decide(policy, situation_of(read_prompt(request))).text == "Already typed."


def test_not_a_number_is_said(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(r"rules: [{when: {last: '(?P<n>\w+)'}, calls: [{tool: t, arguments: {n: '${n:int}'}}]}]")
    move = decide(load_policy(file), situation_of(_prompt(("user", "many"))))
    assert "rule 1" in (move.text or "")
    assert "many" in (move.text or "")


@pytest.mark.parametrize(
    ("content", "field", "problem"),
    [
        ("rules: [", None, "is not YAML"),
        ("[]", None, "is not a mapping"),
        ("description: x", "rules", "is missing"),
        ("rules: []", "rules", "at least 1"),
        ("rules: [{text: a, wen: {}}]", "rules[0].wen", "is not a known field"),
        ("rules: [{text: a}, {when: {last: '('}, text: b}]", "rules[1].when.last", "regular expression"),
        ("rules: [{when: {turn: soon}, text: a}]", "rules[0].when.turn", "integer"),
        ("rules: [{when: {turn: 0}}]", "rules[0]", "says nothing and calls nothing"),
        ("rules: [{calls: [{arguments: {}}]}]", "rules[0].calls[0].tool", "is missing"),
        ("rules: [{text: 'hi ${who}'}]", "rules[0]", "${who} is no named group"),
        ("rules: [{when: {last: '(?P<n>.)'}, text: '${n:date}'}]", "rules[0]", "unknown type"),
        ("price: {input: 1}\nrules: [{text: a}]", "price.output", "is missing"),
    ],
)
def test_broken_policy_names_file_field_and_remedy(
    tmp_path: Path, content: str, field: str | None, problem: str
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(content)
    with pytest.raises(InputError) as caught:
        load_policy(file)
    assert (caught.value.file, caught.value.field) == (file, field)
    assert problem in caught.value.problem
    assert caught.value.remedy


def test_missing_policy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_policy(tmp_path / "none.yaml")


def test_counts_by_hand() -> None:
    move = Move(text="x" * 10, thinking="y" * 9, calls=(("tool", {"a": 1}),))
    # prompt 4001/4 -> 1001; thinking 9/4 -> 3; text 10 + "tool" 4 + '{"a": 1}' 8 = 22/4 -> 6
    assert usage_object(count("p" * 4001, 128, move)) == {
        "prompt_tokens": 1001,
        "completion_tokens": 9,
        "total_tokens": 1010,
        "prompt_tokens_details": {"cached_tokens": 128},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }


def test_cache_like_real_providers() -> None:
    cache = PromptCache()
    assert cache.take("a" * 8000) == 0
    assert cache.take("a" * 4092 + "b" * 4000) == 0  # 1023 tokens shared
    assert cache.take("a" * 4096 + "c" * 100) == 1024
    assert cache.take("a" * 4700 + "d" * 100) == 1152  # 1175 shared with the first
    assert cache.take("side call") == 0
    assert cache.take("a" * 8000) == 1920  # 2000 shared, in steps of 128


@pytest.mark.parametrize(
    ("one", "other", "shared"), [("", "a", 0), ("ab", "ab", 2), ("abc", "abd", 2), ("x", "y", 0)]
)
def test_shared_prefix(one: str, other: str, shared: int) -> None:
    assert shared_prefix(one, other) == shared


@pytest.mark.anyio
async def test_through_the_gateway_streamed_and_whole(gateway, new_run, kit, tmp_path, policy) -> None:
    run = new_run()
    model = scripted_model("solver", tmp_path / "orders.yaml")
    meter = gateway.open_run(run_id="run-1", model=model, run=run)
    assert meter.price == policy.price
    request = _request(
        ("user", "order for Alex"), ("assistant", "ok"), ("tool", "[12] Quantity"), model="any"
    )
    async with kit.client_of(gateway, meter.token) as client:
        whole = (await client.post("/chat/completions", json=request)).json()
        streamed = await client.post("/chat/completions", json={**request, "stream": True})
    await meter.close()
    assert (whole["model"], whole["system_fingerprint"]) == ("scripted/orders", "scripted")
    assert whole["choices"][0]["finish_reason"] == "tool_calls"
    assert streamed.headers["x-clawbench-scripted"] == "orders"
    assert streamed.headers["content-type"].startswith("text/event-stream")
    chunks = [json.loads(line[6:]) for line in streamed.text.split("\n\n") if line.startswith("data: {")]
    assert len(chunks) > 6
    assert chunks[-1]["usage"] == whole["usage"]
    assert {chunk["id"] for chunk in chunks} == {whole["id"]}
    answers = [
        line for line in read_json_lines(run.messages) if line.get("message", {}).get("role") == "assistant"
    ]
    assert answers[1]["message"] == answers[2]["message"]
    called = [call["function"] for call in whole["choices"][0]["message"]["tool_calls"]]
    assert [json.loads(call["arguments"])["element"] for call in called] == [12, 4]
    measured, usage = meter.metered, whole["usage"]
    assert measured.scripted is True
    assert measured.usage == Usage(
        input=2 * usage["prompt_tokens"], output=2 * usage["completion_tokens"], reasoning=0
    )
    assert measured.cost_usd == pytest.approx(
        2 * (usage["prompt_tokens"] * 3e-6 + usage["completion_tokens"] * 15e-6)
    )
    assert all(line["scripted"] for line in read_json_lines(run.llm_calls))
    assert next(iter(read_json_lines(run.messages)))["scripted"] is True


@pytest.mark.anyio
async def test_own_price_beats_the_policys_and_none_is_unknown(gateway, new_run, tmp_path, policy) -> None:
    own = scripted_model("m", tmp_path / "orders.yaml", Price(input=1, output=1))
    assert gateway.open_run(run_id="1", model=own, run=new_run()).price == Price(input=1, output=1)
    (tmp_path / "free.yaml").write_text("rules: [{text: hi}]")
    unpriced = gateway.open_run(run_id="2", model=scripted_model("m", tmp_path / "free.yaml"), run=new_run())
    assert unpriced.price is None
    assert unpriced.metered.cost_usd is None


@pytest.mark.anyio
async def test_broken_policy_stops_before_anything_starts(gateway, new_run, tmp_path) -> None:
    run = new_run()
    with pytest.raises(InputError):
        gateway.open_run(run_id="1", model=scripted_model("m", tmp_path / "none.yaml"), run=run)
    assert run.present() == {}
