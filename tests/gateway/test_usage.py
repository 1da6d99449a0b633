"""Tokens and money, each figure worked out by hand."""

from __future__ import annotations

import pytest

from clawbench.gateway.prices import PriceList, find_price, read_published
from clawbench.gateway.usage import billed_cost, estimate_tokens, from_chat_completions
from clawbench.models import ApiType, Model, scripted_model
from clawbench.results import Price, Usage


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        pytest.param(
            {"prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
             "prompt_tokens_details": {"cached_tokens": 1920},
             "completion_tokens_details": {"reasoning_tokens": 128}},
            Usage(input=86, cache_read=1920, output=300, reasoning=128),
            id="openai",
        ),
        pytest.param(
            {"prompt_tokens": 500, "completion_tokens": 40, "prompt_cache_hit_tokens": 384,
             "prompt_cache_miss_tokens": 116, "total_tokens": 540},
            Usage(input=116, cache_read=384, output=40),
            id="deepseek",
        ),
        pytest.param(
            {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 141,
             "completion_tokens_details": {"reasoning_tokens": 100}},
            Usage(input=32, output=109, reasoning=100),
            id="reasoning outside completion_tokens",
        ),
        pytest.param(
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 300},
            Usage(input=10, output=290, reasoning=285),
            id="reasoning only in the total",
        ),
        pytest.param(
            {"prompt_tokens": 1000, "completion_tokens": 1,
             "prompt_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 600}},
            Usage(input=100, cache_read=300, cache_write=600, output=1),
            id="cache writes",
        ),
        pytest.param(
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None,
             "completion_tokens_details": {"reasoning_tokens": None}},
            Usage(input=5, output=2),
            id="empty details",
        ),
        pytest.param({"prompt_tokens": 7}, Usage(input=7), id="no completion"),
        pytest.param(
            {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 99}},
            Usage(cache_read=10, output=1),
            id="more cached than sent",
        ),
        pytest.param({"prompt_tokens": "many"}, None, id="not a number"),
        pytest.param({"prompt_tokens": -4, "completion_tokens": True}, None, id="negative and boolean"),
        pytest.param(None, None, id="absent"),
        pytest.param([], None, id="not an object"),
    ],
)  # fmt: skip
def test_buckets_are_disjoint(reported: object, expected: Usage | None) -> None:
    assert from_chat_completions(reported) == expected


def test_cost_by_hand() -> None:
    usage = Usage(input=86, cache_read=1920, cache_write=1000, output=300, reasoning=128)
    price = Price(input=3.0, output=15.0, cached_input=0.3, cache_write=3.75)
    # 86*3 + 1920*0.3 + 1000*3.75 + 300*15 = 258 + 576 + 3750 + 4500 = 9084 per million
    assert PriceList(price).cost(usage) == 0.009084


def test_dearer_tier_applies_to_the_whole_call() -> None:
    prices = PriceList(Price(input=3, output=15, long_prompts={200_000: Price(input=6, output=22.5)}))
    assert prices.cost(Usage(input=200_000, output=100)) == pytest.approx(0.6 + 0.0015)
    assert prices.cost(Usage(input=100_001, cache_read=100_000, output=100)) == pytest.approx(
        200_001 * 6e-6 + 0.00225
    )


def test_billed_cost_is_kept_when_reported() -> None:
    assert billed_cost({"cost": 0.0123}) == 0.0123
    assert billed_cost({"cost": True}) is None
    assert billed_cost({}) is None


def test_estimate_rounds_up() -> None:
    assert [estimate_tokens(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def _model(name: str, url: str, price: Price | None = None) -> Model:
    return Model(name=name, base_url=url, api_type=ApiType.OPENAI_COMPLETIONS, price=price)


def test_own_price_comes_first() -> None:
    own = Price(input=1, output=2)
    assert find_price(_model("gpt-4o", "https://api.openai.com/v1", own)) == PriceList(own)


def test_published_price_of_a_known_model() -> None:
    found = find_price(_model("gpt-4o", "https://api.openai.com/v1"))
    assert found is not None
    assert (found.base.input, found.base.cached_input, found.base.output) == (2.5, 1.25, 10.0)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("gpt-4o", "http://127.0.0.1:8000/v1"),
        ("no-such-model-at-all", "https://api.openai.com/v1"),
    ],
)
def test_unknown_price_is_unknown(name: str, url: str) -> None:
    assert find_price(_model(name, url)) is None


def test_published_tiers_are_read() -> None:
    from genai_prices.types import Tier, TieredPrices

    tiered = TieredPrices(base=3, tiers=[Tier(start=200_000, price=6)])  # type: ignore[arg-type]
    found = read_published({"input_mtok": tiered, "output_mtok": 15, "cache_read_mtok": None})
    assert found == PriceList(Price(input=3, output=15, long_prompts={200_000: Price(input=6, output=15)}))
    assert read_published({"input_mtok": 3}) is None


def test_the_snapshot_of_a_price_prices_long_prompts_too() -> None:
    at_google = {"base_url": "https://generativelanguage.googleapis.com", "api_type": ApiType.GOOGLE}
    found = find_price(Model(name="gemini-2.5-pro", **at_google))  # type: ignore[arg-type]
    assert found is not None
    written = PriceList(Price.model_validate_json(found.base.model_dump_json()))
    short, long = Usage(input=200_000), Usage(input=200_001)
    assert (written.cost(short), written.cost(long)) == (0.25, 0.5000025)  # 1.25 and 2.50 per million


def test_scripted_model_has_no_published_price(tmp_path: object) -> None:
    from pathlib import Path

    assert find_price(scripted_model("gpt-4o", Path("p.yaml"))) is None
