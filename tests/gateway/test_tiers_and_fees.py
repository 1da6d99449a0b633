"""What is not paid by tokens at the standard price: other tiers, fees of tools; and retries."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import httpx
import pytest

from clawbench.gateway import BatchBudget, Budget
from clawbench.gateway.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect
from clawbench.gateway.prices import Cost, PriceList, find_price
from clawbench.models import ApiType, Model
from clawbench.results import Metered, Price, StopReason, Usage, read_json_lines

FLEX = Price(input=1, output=5)
PRICE = Price(input=2, output=10, fees={"web_search": 10}, service_tiers={"flex": FLEX})
USAGE = Usage(input=1000, output=100)


@pytest.mark.parametrize(
    ("tier", "uses", "cost"),
    [
        (None, {}, Cost(0.003, {})),  # (1000*2 + 100*10) / 1e6
        ("default", {}, Cost(0.003, {})),
        ("ON_DEMAND", {}, Cost(0.003, {})),
        ("flex", {}, Cost(0.0015, {})),  # (1000*1 + 100*5) / 1e6
        ("ON_DEMAND_FLEX", {"web_search": 3}, Cost(0.0315, {})),  # 0.0015 + 3*10/1000
        ("priority", {}, Cost(None, {"service tier priority": 1})),
        ("standard", {"code_interpreter": 2}, Cost(0.003, {"code_interpreter": 2})),
    ],
)
def test_price_of_a_call(tier: str | None, uses: dict[str, int], cost: Cost) -> None:
    assert PriceList(PRICE).price_call(USAGE, tier, uses) == cost


def test_a_fee_for_every_request() -> None:
    price = PriceList(Price(input=1, output=1, fees={"request": 12}))
    assert price.price_call(USAGE, None, {}) == Cost(0.0131, {})  # 1100/1e6 + 12/1000


def test_published_tiers_and_fees() -> None:
    at_openai = {"base_url": "https://api.openai.com/v1", "api_type": ApiType.OPENAI_RESPONSES}
    found = find_price(Model(name="o4-mini", **at_openai))  # type: ignore[arg-type]
    assert found is not None
    assert found.base.fees == {"web_search": 10, "file_search": 2.5}
    assert found.base.service_tiers is not None
    standard, flex, priority = (
        found.price_call(USAGE, tier, {}).usd for tier in ("default", "flex", "priority")
    )
    assert standard is not None
    assert flex is not None
    assert priority is not None
    assert flex < standard < priority
    assert found.base.service_tiers["flex"].input < found.base.input
    assert found.price_call(USAGE, "scale", {}).usd is None


def _anthropic(**usage: Any) -> dict[str, Any]:
    return {"content": [], "usage": {"input_tokens": 1, "output_tokens": 1, **usage}}


@pytest.mark.parametrize(
    ("dialect", "body", "tier", "uses"),
    [
        (ANTHROPIC, _anthropic(service_tier="batch"), "batch", {}),
        (ANTHROPIC, _anthropic(service_tier="standard", speed="fast"), "fast", {}),
        (ANTHROPIC, _anthropic(inference_geo="us"), "inference_geo us", {}),
        (ANTHROPIC, _anthropic(inference_geo="global", service_tier="standard"), "standard", {}),
        (
            ANTHROPIC,
            _anthropic(server_tool_use={"web_search_requests": 2, "web_fetch_requests": 3}),
            None,
            {"web_search": 2},
        ),
        (
            RESPONSES,
            {"service_tier": "flex", "output": [{"type": "web_search_call"}, {"type": "function_call"}] * 2},
            "flex",
            {"web_search": 2},
        ),
        (
            CHAT,
            {"choices": [{"message": {"content": "x", "annotations": [{"type": "url_citation"}] * 3}}]},
            None,
            {"web_search": 1},
        ),
        (CHAT, {"choices": [], "usage": {"num_sources_used": 4}}, None, {"search_source": 4}),
        (
            GOOGLE,
            {
                "candidates": [{"groundingMetadata": {"webSearchQueries": ["a", "b"]}}],
                "usageMetadata": {"promptTokenCount": 1, "serviceTier": "priority"},
            },
            "priority",
            {"google_search": 2},
        ),
    ],
)
def test_what_an_answer_says_of_it(
    dialect: Dialect, body: dict[str, Any], tier: str | None, uses: dict[str, int]
) -> None:
    answer = dialect.read_answer(json.dumps(body).encode(), streamed=False)
    assert (answer.service_tier, answer.uses) == (tier, uses)


def test_citations_and_searches_of_streams() -> None:
    delta = {"choices": [{"index": 0, "delta": {"annotations": [{"type": "url_citation"}]}}]}
    raw = b"data: " + json.dumps(delta).encode() + b"\n\ndata: [DONE]\n\n"
    assert CHAT.read_answer(raw, streamed=True).uses == {"web_search": 1}
    used = {"output_tokens": 1, "server_tool_use": {"web_search_requests": 1}}
    events = [{"type": "message_start", "message": {}}, {"type": "message_delta", "usage": used}]
    raw = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    assert ANTHROPIC.read_answer(raw, streamed=True).uses == {"web_search": 1}


def _tiered(kit: Any, tier: str) -> bytes:
    return json.dumps({**json.loads(kit.completion()), "service_tier": tier}).encode()


@pytest.mark.anyio
async def test_call_without_a_price_makes_the_cost_unknown(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    api.script = [kit.plain(200, kit.completion()), kit.plain(200, _tiered(kit, "priority"))]
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
        assert meter.metered.cost_usd == 0.0004
        await client.post("/chat/completions", json=kit.ask("more"))
    assert meter.metered.cost_usd is None
    assert meter.metered.unpriced == {"service tier priority": 1}
    assert meter.metered.usage.total == 240
    first, second = read_json_lines(run.llm_calls)
    assert (first["cost_usd"], second["cost_usd"]) == (0.0004, None)
    assert second["unpriced"] == {"service tier priority": 1}
    assert "unpriced" not in first


@pytest.mark.anyio
@pytest.mark.parametrize("shared", [False, True])
async def test_cap_that_cannot_be_kept_ends_the_run(gateway, api, new_run, kit, shared: bool) -> None:
    caps = {"batch": BatchBudget(1.0)} if shared else {"budget": Budget(cost_usd=1.0)}
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run(), **caps)
    api.script = [kit.plain(200, _tiered(kit, "priority"))]
    async with kit.client_of(gateway, meter.token) as client:
        statuses = [(await client.post("/chat/completions", json=kit.ask())).status_code for _ in range(2)]
    assert statuses == [200, 402]
    async with asyncio.timeout(5):
        reason, why = await meter.stop_signal()
    assert reason is StopReason.BUDGET
    assert "unknown" in why


@pytest.mark.anyio
async def test_retries_and_times_are_counted(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    api.script = [
        kit.plain(500, b"{}"),
        kit.plain(429, b"{}"),
        kit.cut_after(b"data: {}"),
        kit.plain(200, kit.completion(usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.5})),
        kit.plain(200, kit.completion(usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.25})),
        kit.plain(400, b"{}"),
        kit.plain(200, kit.completion()),
    ]
    async with kit.client_of(gateway, meter.token) as client:
        for text in ("one", "one", "one", "one", "one", "two", "two"):
            with contextlib.suppress(httpx.RemoteProtocolError):
                await client.post("/chat/completions", json=kit.ask(text))
    # The fifth repeats one that went well, the last one that was simply wrong: neither is a retry.
    assert [line.get("retry", False) for line in read_json_lines(run.llm_calls)] == [
        False,
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    measured = meter.metered
    assert (measured.calls, measured.retries, measured.errors, measured.turns) == (7, 3, 4, 3)
    assert measured.billed_usd == 0.75
    assert measured.answered == 7
    assert 0 < measured.ttft_s <= measured.latency_s
    assert Metered.model_validate(measured.model_dump(mode="json")) == measured


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}),
        (429, {"message": "No credit.", "code": "insufficient_quota"}),
    ],
)
async def test_key_that_only_the_body_calls_bad(gateway, api, new_run, kit, status, error) -> None:
    run = new_run()
    keys = ("sk-first-key-0000000", "sk-second-key-000000")
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_keys=keys), run=run)
    body = json.dumps({"error": error}).encode()
    api.script = [kit.plain(status, body), kit.plain(200, kit.completion())]
    async with kit.client_of(gateway, meter.token) as client:
        answers = [await client.post("/chat/completions", json=kit.ask()) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [status, 200, 200]
    assert answers[0].content == body
    used = [request.headers["authorization"].removeprefix("Bearer ") for request in api.received]
    assert used == [keys[0], keys[1], keys[1]]
    lines = list(read_json_lines(run.llm_calls))
    assert [line.get("key_set_aside", False) for line in lines] == [True, False, False]
