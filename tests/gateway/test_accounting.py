"""Usage as each provider documents it: tokens and dollars to the last digit, worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clawbench.gateway.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect
from clawbench.gateway.prices import PriceList, find_price
from clawbench.models import ApiType, Model
from clawbench.results import Price, Usage

SONNET = Price(input=3, output=15, cached_input=0.3, cache_write=3.75, cache_write_1h=6)
SONNET_LONG = Price(input=6, output=22.5, cached_input=0.6, cache_write=7.5, cache_write_1h=12)
GPT = Price(input=1.25, output=10, cached_input=0.125)
FLASH = Price(
    input=0.3, output=2.5, cached_input=0.03, input_audio=1, cached_input_audio=0.1, output_image=30
)


def _whole(dialect: Dialect, usage: dict[str, Any]) -> bytes:
    name = "usageMetadata" if dialect is GOOGLE else "usage"
    return json.dumps({name: usage}).encode()


FIXTURES = [
    pytest.param(
        ANTHROPIC,
        {
            "input_tokens": 2048,
            "cache_read_input_tokens": 1800,
            "cache_creation_input_tokens": 248,
            "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
            "output_tokens": 503,
            "service_tier": "standard",
        },
        Usage(input=2048, cache_read=1800, cache_write=248, cache_write_1h=100, output=503),
        # 2048*3 + 1800*0.3 + 148*3.75 + 100*6 + 503*15 = 6144 + 540 + 555 + 600 + 7545 = 15384
        PriceList(SONNET),
        0.015384,
        id="anthropic: cache read, writes of both lifetimes",
    ),
    pytest.param(
        ANTHROPIC,
        {
            "input_tokens": 10,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1000},
            "cache_read_input_tokens": None,
            "cache_creation_input_tokens": 1000,
            "output_tokens": 1,
        },
        Usage(input=10, cache_write=1000, cache_write_1h=1000, output=1),
        # No price for an hour: twice the input's. 10*3 + 1000*6 + 1*15 = 6045
        PriceList(Price(input=3, output=15, cached_input=0.3, cache_write=3.75)),
        0.006045,
        id="anthropic: an hour without a price of its own",
    ),
    pytest.param(
        ANTHROPIC,
        {"input_tokens": 12, "output_tokens": 900, "output_tokens_details": {"thinking_tokens": 640}},
        Usage(input=12, output=900, reasoning=640),
        # Thinking is a part of output. 12*3 + 900*15 = 13536
        PriceList(SONNET),
        0.013536,
        id="anthropic: thinking",
    ),
    pytest.param(
        ANTHROPIC,
        {"input_tokens": 150_000, "cache_read_input_tokens": 50_000, "output_tokens": 1000},
        Usage(input=150_000, cache_read=50_000, output=1000),
        # 200,000 is not more than 200,000. 450000 + 15000 + 15000 = 480000
        PriceList(SONNET.model_copy(update={"long_prompts": {200_000: SONNET_LONG}})),
        0.48,
        id="anthropic: at the edge of the tier",
    ),
    pytest.param(
        ANTHROPIC,
        {"input_tokens": 150_000, "cache_read_input_tokens": 50_001, "output_tokens": 1000},
        Usage(input=150_000, cache_read=50_001, output=1000),
        # 150000*6 + 50001*0.6 + 1000*22.5 = 900000 + 30000.6 + 22500 = 952500.6
        PriceList(SONNET.model_copy(update={"long_prompts": {200_000: SONNET_LONG}})),
        0.9525006,
        id="anthropic: dearer tier",
    ),
    pytest.param(
        RESPONSES,
        {
            "input_tokens": 2006,
            "input_tokens_details": {"cached_tokens": 1920},
            "output_tokens": 1186,
            "output_tokens_details": {"reasoning_tokens": 1024},
            "total_tokens": 3192,
        },
        Usage(input=86, cache_read=1920, output=1186, reasoning=1024),
        # 86*1.25 + 1920*0.125 + 1186*10 = 107.5 + 240 + 11860 = 12207.5
        PriceList(GPT),
        0.0122075,
        id="responses: cached, reasoning",
    ),
    pytest.param(
        RESPONSES,
        {
            "input_tokens": 3000,
            "input_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 1500},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 3010,
        },
        Usage(input=500, cache_read=1000, cache_write=1500, output=10),
        # 500*1.25 + 1000*0.125 + 1500*1.25 + 10*10 = 625 + 125 + 1875 + 100 = 2725
        PriceList(GPT),
        0.002725,
        id="responses: cache writes",
    ),
    pytest.param(
        CHAT,
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 128, "audio_tokens": 50},
        },
        Usage(input=86, cache_read=1920, output=300, reasoning=128, input_audio=40, output_audio=50),
        # 46*1.25 + 40*32 + 1920*0.125 + 250*10 + 50*64 = 57.5 + 1280 + 240 + 2500 + 3200 = 7277.5
        PriceList(GPT.model_copy(update={"input_audio": 32.0, "output_audio": 64.0})),
        0.0072775,
        id="chat: cached, reasoning, audio both ways",
    ),
    pytest.param(
        GOOGLE,
        {
            "promptTokenCount": 5000,
            "cachedContentTokenCount": 3000,
            "toolUsePromptTokenCount": 150,
            "candidatesTokenCount": 400,
            "thoughtsTokenCount": 600,
            "totalTokenCount": 6150,
            "promptTokensDetails": [
                {"modality": "TEXT", "tokenCount": 3800},
                {"modality": "AUDIO", "tokenCount": 1200},
            ],
            "cacheTokensDetails": [
                {"modality": "TEXT", "tokenCount": 2800},
                {"modality": "AUDIO", "tokenCount": 200},
            ],
        },
        Usage(
            input=2150, cache_read=3000, output=1000, reasoning=600, input_audio=1000, cache_read_audio=200
        ),
        # 1150*0.3 + 1000*1 + 2800*0.03 + 200*0.1 + 1000*2.5 = 345 + 1000 + 84 + 20 + 2500 = 3949
        PriceList(FLASH),
        0.003949,
        id="google: cached, thoughts, tool prompt, audio",
    ),
    pytest.param(
        GOOGLE,
        {
            "promptTokenCount": 10,
            "candidatesTokenCount": 1300,
            "totalTokenCount": 1310,
            "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}],
        },
        Usage(input=10, output=1300, output_image=1290),
        # 10*0.3 + 10*2.5 + 1290*30 = 3 + 25 + 38700 = 38728
        PriceList(FLASH),
        0.038728,
        id="google: a picture comes out",
    ),
    pytest.param(
        GOOGLE,
        {
            "promptTokenCount": 265,
            "candidatesTokenCount": 2,
            "totalTokenCount": 267,
            "promptTokensDetails": [
                {"modality": "TEXT", "tokenCount": 7},
                {"modality": "IMAGE", "tokenCount": 258},
            ],
        },
        Usage(input=265, output=2),
        # Pictures that go in cost as text does. 265*0.3 + 2*2.5 = 79.5 + 5 = 84.5
        PriceList(FLASH),
        0.0000845,
        id="google: a picture goes in",
    ),
]


@pytest.mark.parametrize(("dialect", "reported", "usage", "prices", "dollars"), FIXTURES)
def test_tokens_and_dollars(
    dialect: Dialect, reported: dict[str, Any], usage: Usage, prices: PriceList, dollars: float
) -> None:
    answer = dialect.read_answer(_whole(dialect, reported), streamed=False)
    assert answer.usage == usage
    assert prices.cost(usage) == dollars


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC, GOOGLE])
@pytest.mark.parametrize("reported", [None, [], {}, {"input_tokens": "many"}, {"promptTokenCount": -1}])
def test_nothing_usable_is_no_usage(dialect: Dialect, reported: Any) -> None:
    assert dialect.read_answer(_whole(dialect, reported), streamed=False).usage is None


def test_reports_within_a_stream_replace_each_other() -> None:
    begun = {"input_tokens": 25, "cache_read_input_tokens": 7, "output_tokens": 1}
    events = [
        {"type": "message_start", "message": {"model": "m", "usage": begun}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 15}},
    ]
    raw = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    assert ANTHROPIC.read_answer(raw, streamed=True).usage == Usage(input=25, cache_read=7, output=15)


def test_compaction_is_counted_beside_the_totals() -> None:
    part = {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 5}
    iterations = [{"type": "message", **part}, {"type": "compaction", **part, "output_tokens": 30}]
    reported = {**part, "iterations": iterations}
    answer = ANTHROPIC.read_answer(_whole(ANTHROPIC, reported), streamed=False)
    assert answer.usage == Usage(input=20, cache_read=10, output=32)


def test_service_tier_is_kept() -> None:
    tier = {"service_tier": "flex", "usage": {"input_tokens": 1, "output_tokens": 1}}
    assert RESPONSES.read_answer(json.dumps(tier).encode(), streamed=False).service_tier == "flex"
    served = {"input_tokens": 1, "output_tokens": 1, "service_tier": "priority"}
    assert ANTHROPIC.read_answer(_whole(ANTHROPIC, served), streamed=False).service_tier == "priority"


@pytest.mark.parametrize("url", ["https://api.anthropic.com", "https://api.anthropic.com/v1"])
def test_published_price_of_an_hour(url: str) -> None:
    found = find_price(Model(name="claude-sonnet-4-5", base_url=url, api_type=ApiType.ANTHROPIC_MESSAGES))
    assert found is not None
    assert found.base.cache_write_1h == 2 * found.base.input


def test_published_price_of_sound() -> None:
    url = "https://generativelanguage.googleapis.com/v1beta"
    found = find_price(Model(name="gemini-2.5-flash", base_url=url, api_type=ApiType.GOOGLE))
    assert found is not None
    assert found.base.input_audio is not None
    assert found.base.input_audio > found.base.input


def test_rare_parts_are_written_only_where_they_are() -> None:
    assert Usage(input=1).model_dump() == {
        "input": 1,
        "cache_read": 0,
        "cache_write": 0,
        "output": 0,
        "reasoning": 0,
    }
    spent = Usage(cache_write=3, cache_write_1h=2)
    assert Usage.model_validate(spent.model_dump(mode="json")) == spent
    assert (spent + spent).cache_write_1h == 4
