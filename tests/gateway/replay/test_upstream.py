"""A record answers byte for byte, whatever the API; what it does not hold ends the run or asks the model."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from clawbench.gateway.replay import upstream as module
from clawbench.models import ApiType
from clawbench.results import ReplayMode, ReplayOutcome, StopReason, read_llm_calls

pytestmark = pytest.mark.anyio

POLICY = """
price: {input: 1000, output: 1000}
faults:
  - {call: 3, status: 429, retry_after: 0}
  - {call: 4, status: 500}
  - {call: 5, cut_after: 2}
rules:
  - when: {last: ping}
    thinking: Hm.
    text: "Pong, and more than one piece of it."
    calls: [{tool: t, arguments: {a: [1]}}]
  - {text: Other.}
"""


def question(
    api_type: ApiType, stream: bool, text: str = "ping", call_id: str = "x1"
) -> tuple[str, dict[str, Any]]:
    """The smallest conversation of an API, with an id that changes from run to run."""
    if api_type is ApiType.OPENAI_COMPLETIONS:
        said = [{"role": "tool", "tool_call_id": call_id, "content": "r"}, {"role": "user", "content": text}]
        return "/v1/chat/completions", {"model": "m", "messages": said, "stream": stream}
    if api_type is ApiType.OPENAI_RESPONSES:
        said = [{"type": "function_call_output", "call_id": call_id, "output": "r"}]
        asked = [*said, {"role": "user", "content": text}]
        return "/v1/responses", {"model": "m", "input": asked, "stream": stream}
    if api_type is ApiType.ANTHROPIC_MESSAGES:
        blocks = [
            {"type": "tool_result", "tool_use_id": call_id, "content": "r"},
            {"type": "text", "text": text},
        ]
        body = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": blocks}],
            "stream": stream,
        }
        return "/v1/messages?beta=true", body
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"/v1beta/models/m:{method}", {"contents": [{"role": "user", "parts": [{"text": text}]}]}


async def ask(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> tuple[int, bytes, str, str]:
    """Status, bytes as far as they came, kind and Retry-After of an answer."""
    got = b""
    async with client.stream("POST", path, json=body) as answer:
        try:
            async for chunk in answer.aiter_raw():
                got += chunk
        except httpx.RemoteProtocolError:
            got += b"<cut>"
        headers = answer.headers
        return answer.status_code, got, headers.get("content-type", ""), headers.get("retry-after", "")


@pytest.mark.parametrize("api_type", list(ApiType))
@pytest.mark.parametrize("stream", [False, True])
async def test_the_same_bytes_again_with_errors_and_cuts(
    deck, scripted, api_type: ApiType, stream: bool
) -> None:
    async with deck.open(scripted(POLICY, api_type)) as recorded:
        first = [await ask(recorded.client, *question(api_type, stream)) for _ in range(6)]
    assert [status for status, *_ in first] == [200, 200, 429, 500, 200, 200]
    assert first[4][1].endswith(b"<cut>")
    async with deck.replay(recorded) as again:
        second = [await ask(again.client, *question(api_type, stream, call_id=f"y{n}")) for n in range(6)]
    assert second == first
    before, after = (list(read_llm_calls(session.run.llm_calls)) for session in (recorded, again))
    for name in ("status", "response", "usage", "headers", "error", "streamed"):
        assert [line[name] for line in after] == [line[name] for line in before]
    assert [line.get("chunks") for line in after] == [line.get("chunks") for line in before]
    assert [line["replayed"] for line in after] == [line["id"] for line in before]
    assert [line["cost_usd"] for line in after] == [0.0] * 6
    was, now = recorded.meter.metered, again.meter.metered
    assert (now.usage, now.turns, now.errors) == (was.usage, was.turns, was.errors)
    assert (now.cost_usd, now.replayed, now.replayed_cost_usd) == (0.0, 6, was.cost_usd)
    assert again.meter.upstream.outcome() == (ReplayOutcome.SAME, [])


async def test_an_api_that_cannot_be_reached_is_replayed_too(deck, api, kit) -> None:
    dead = kit.model_at(api, base_url="http://127.0.0.1:9/v1")
    async with deck.open(dead) as recorded:
        first = await recorded.client.post("/v1/chat/completions", json=kit.ask())
    async with deck.replay(recorded) as again:
        second = await again.client.post("/v1/chat/completions", json=kit.ask())
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert first.status_code == 502


async def test_equal_questions_get_their_answers_in_order_and_others_theirs(deck, api, kit) -> None:
    api.script = [kit.plain(200, kit.completion(text)) for text in ("one", "two", "title", "three")]
    texts = ["go", "go", "name this", "go"]

    async def answer(session, text: str) -> str:
        got = await session.client.post("/v1/chat/completions", json=kit.ask(text))
        return str(got.json()["choices"][0]["message"]["content"])

    async with deck.open(kit.model_at(api)) as recorded:
        assert [await answer(recorded, text) for text in texts] == ["one", "two", "title", "three"]
    async with deck.replay(recorded) as again:
        side, main = await asyncio.gather(answer(again, "name this"), answer(again, "go"))
        assert (side, main) == ("title", "one")
        assert [await answer(again, "go"), await answer(again, "go")] == ["two", "three"]
        assert again.meter.upstream.outcome()[0] is ReplayOutcome.SAME


async def recorded_run(deck, api, kit, *texts: str):
    api.script = [kit.plain(200, kit.completion(f"answer to {text}")) for text in texts]
    async with deck.open(kit.model_at(api)) as recorded:
        for text in texts:
            await recorded.client.post("/v1/chat/completions", json=kit.ask(text))
    return recorded


async def test_another_question_ends_the_run_and_shows_the_difference(deck, api, kit) -> None:
    recorded = await recorded_run(deck, api, kit, "Buy two tins of tea.", "Then stop.")
    async with deck.replay(recorded) as again:
        refused = await again.client.post("/v1/chat/completions", json=kit.ask("Buy three tins of tea."))
        reason, description = await again.meter.stop_signal()
    assert refused.status_code == 410
    assert reason is StopReason.ERROR
    assert "diverged at call-00001: message 1 (user)" in description
    outcome, left = again.meter.upstream.outcome()
    assert (outcome, [call.id for call in left]) == (ReplayOutcome.DIVERGED, ["call-00001", "call-00002"])
    divergence = again.meter.upstream.progress.divergence
    assert divergence.recorded == "call-00001"
    assert "\n-Buy two tins of tea.\n+Buy three tins of tea." in divergence.diff


@pytest.mark.parametrize("api_type", list(ApiType))
async def test_the_difference_in_every_api(deck, scripted, api_type: ApiType) -> None:
    async with deck.open(scripted(POLICY, api_type)) as recorded:
        await ask(recorded.client, *question(api_type, True, "ping the shop\nand wait"))
    async with deck.replay(recorded) as again:
        await ask(again.client, *question(api_type, True, "ping the bank\nand wait"))
    divergence = again.meter.upstream.progress.divergence
    assert "(user)" in divergence.part
    assert "\n-ping the shop\n+ping the bank\n and wait" in divergence.diff


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"temperature": 0.5}, "settings"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        (
            {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "Hi"}]},
            "system prompt",
        ),
        (
            {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "!"}]},
            "message 2 (assistant)",
        ),
    ],
)
async def test_what_differs_is_named(deck, api, kit, change: dict[str, Any], part: str) -> None:
    recorded = await recorded_run(deck, api, kit, "Hi")
    async with deck.replay(recorded) as again:
        await again.client.post("/v1/chat/completions", json={**kit.ask("Hi"), **change})
    assert again.meter.upstream.progress.divergence.part == part
    assert again.meter.upstream.progress.divergence.diff.count("\n") >= 3


async def test_going_on_gives_the_nearest_answer(deck, api, kit) -> None:
    recorded = await recorded_run(deck, api, kit, "first", "second")
    async with deck.replay(recorded, ReplayMode.GO_ON) as again:
        texts = []
        for text in ("changed", "second"):
            got = await again.client.post("/v1/chat/completions", json=kit.ask(text))
            texts.append(got.json()["choices"][0]["message"]["content"])
    assert texts == ["answer to first", "answer to second"]
    state = again.meter.upstream.progress
    assert (state.replayed, state.divergences) == (2, 1)


async def test_from_the_divergence_on_the_model_answers_and_is_paid(deck, api, kit) -> None:
    recorded = await recorded_run(deck, api, kit, "first", "second", "third")
    api.script = [kit.plain(200, kit.completion("live"))]
    api.received.clear()
    model = kit.model_at(api)
    async with deck.replay(recorded, ReplayMode.THEN_LIVE, model=model) as again:
        texts = []
        for text in ("first", "changed", "third"):
            got = await again.client.post("/v1/chat/completions", json=kit.ask(text))
            texts.append(got.json()["choices"][0]["message"]["content"])
    assert texts == ["answer to first", "live", "live"]
    assert len(api.received) == 2
    assert again.meter.metered.cost_usd == pytest.approx(2 * 0.0004)
    assert (again.meter.metered.replayed, again.meter.metered.replayed_cost_usd) == (1, 0.0004)
    state = again.meter.upstream.progress
    assert (state.live_from, state.live, state.divergence.call) == ("call-00002", 2, "call-00002")


async def test_a_record_that_was_broken_off_is_replayed_up_to_there(deck, api, kit, monkeypatch) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.05)
    first = kit.event({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})
    api.script = [kit.plain(200, kit.completion("whole")), kit.endless(first)]
    async with deck.open(kit.model_at(api)) as recorded:
        await recorded.client.post("/v1/chat/completions", json=kit.ask("a"))
        async with recorded.client.stream(
            "POST", "/v1/chat/completions", json=kit.ask("b", stream=True)
        ) as answer:
            await anext(answer.aiter_raw())
            await recorded.meter.close()
    async with deck.replay(recorded, stop_reason=None) as again:
        await again.client.post("/v1/chat/completions", json=kit.ask("a"))
        _, got, *_ = await ask(again.client, "/v1/chat/completions", kit.ask("b", stream=True))
        reason, description = await again.meter.stop_signal()
    assert got == first + b"<cut>"
    assert (reason, again.meter.upstream.outcome()[0]) == (StopReason.ERROR, ReplayOutcome.RECORD_ENDED)
    assert "The record ends here: call-00002 was broken off" in description


async def test_a_recorded_limit_ends_the_replay_where_it_ended_the_run(deck, api, kit) -> None:
    recorded = await recorded_run(deck, api, kit, "a")
    async with deck.replay(recorded, stop_reason=StopReason.TIME_LIMIT) as again:
        await again.client.post("/v1/chat/completions", json=kit.ask("a"))
        await again.client.post("/v1/chat/completions", json=kit.ask("b"))
        assert (await again.meter.stop_signal())[0] is StopReason.TIME_LIMIT


async def test_a_record_that_lacks_calls_is_no_divergence(deck, api, kit) -> None:
    recorded = await recorded_run(deck, api, kit, "a")
    async with deck.replay(recorded, missing=2) as again:
        await again.client.post("/v1/chat/completions", json=kit.ask("a"))
        await again.client.post("/v1/chat/completions", json=kit.ask("b"))
        reason, description = await again.meter.stop_signal()
    assert (reason, again.meter.upstream.outcome()[0]) == (StopReason.ERROR, ReplayOutcome.RECORD_ENDED)
    assert "all 1 recorded calls are answered; 2 more that the recorded run made are not in it" in description


async def test_one_question_more_than_recorded(deck, api, kit, monkeypatch) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.05)
    recorded = await recorded_run(deck, api, kit, "a")
    async with deck.replay(recorded) as again:
        await again.client.post("/v1/chat/completions", json=kit.ask("a"))
        await again.client.post("/v1/chat/completions", json=kit.ask("a"))
        _, description = await again.meter.stop_signal()
    assert "asked 1 time in the recorded run, and now once more" in description


async def test_questions_that_nobody_asked_again_are_told(deck, api, kit) -> None:
    recorded = await recorded_run(deck, api, kit, "a", "b")
    async with deck.replay(recorded) as again:
        await again.client.post("/v1/chat/completions", json=kit.ask("a"))
    outcome, left = again.meter.upstream.outcome()
    assert (outcome, [call.id for call in left]) == (ReplayOutcome.INCOMPLETE, ["call-00002"])
