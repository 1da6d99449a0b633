"""What a model's calls cost: the model's own price, else the bundled price list, else unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from clawbench.models import Model
from clawbench.results import Price, Usage, dollars

_FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "input_audio": "input_audio_mtok",
    "cached_input_audio": "cache_audio_read_mtok",
    "output_audio": "output_audio_mtok",
    "output_image": "output_image_mtok",
}
_FEES = {
    "web_search": "web_searches_kcount",
    "file_search": "storage_searches_kcount",
    "request": "requests_kcount",
}
STANDARD = frozenset(("standard", "default", "auto", "on_demand", "unspecified", "traffic_type_unspecified"))
_PUBLISHED_TIERS = {
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "fast": {"service_tier": "fast"},
    "batch": {"processing": "batch"},
}


@dataclass(frozen=True)
class Cost:
    """What one call cost."""

    usd: float | None
    unpriced: Mapping[str, int]
    """What is missing in it, and how often."""


@dataclass(frozen=True)
class PriceList:
    """A price, as it is applied to calls."""

    base: Price

    def cost(self, usage: Usage) -> float:
        return self.base.for_prompt(usage.prompt).cost(usage)

    def price_call(self, usage: Usage, tier: str | None, uses: Mapping[str, int]) -> Cost:
        """Tokens at the price of the tier that served the call, and fees; what has no price is named."""
        name = canonical_tier(tier)
        price = self.base if name in STANDARD else (self.base.service_tiers or {}).get(name)
        if price is None:
            return Cost(None, {f"service tier {name}": 1})
        fees = self.base.fees or {}
        used = {**uses, **({"request": 1} if "request" in fees else {})}
        charged = sum(count * fees[what] for what, count in used.items() if what in fees) / 1000
        missing = {what: count for what, count in used.items() if count and what not in fees}
        return Cost(dollars(price.for_prompt(usage.prompt).cost(usage) + charged), missing)


def canonical_tier(tier: str | None) -> str:
    """A tier by one name, whoever reports it: Google says ON_DEMAND_FLEX for what OpenAI calls flex."""
    name = (tier or "standard").lower()
    return name.removeprefix("on_demand_")


def find_price(model: Model) -> PriceList | None:
    """The price of a model now; None where nobody knows it."""
    if model.price is not None:
        return PriceList(model.price)
    return None if model.scripted else _published(model)


def _published(model: Model) -> PriceList | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, info = get_snapshot().find_provider_model(model.upstream_name, None, None, model.base_url)
    except LookupError:
        return None
    now = datetime.now(UTC)
    standard = read_published(vars(info.get_prices(now)))
    if standard is None:
        return None
    tiers = {
        name: found.base
        for name, context in _PUBLISHED_TIERS.items()
        if _is_published(info, context, now)
        and (found := read_published(vars(info.get_prices(now, price_context=context)))) is not None
    }
    return PriceList(standard.base.model_copy(update={"service_tiers": tiers or None}))


def _is_published(info: Any, context: Mapping[str, str], now: datetime) -> bool:
    return any(
        variant.when == context and (variant.constraint is None or variant.constraint.active(now))
        for variant in info.price_variants or ()
    )


def read_published(prices: Mapping[str, Any]) -> PriceList | None:
    """A price list from genai-prices' fields; None unless both input and output have a price."""
    base = _at(prices, 0)
    if base is None:
        return None
    starts = {tier.start for name in _FIELDS.values() for tier in getattr(prices.get(name), "tiers", ())}
    dearer = {start: price for start in sorted(starts) if (price := _at(prices, start + 1)) is not None}
    return PriceList(base.model_copy(update={"long_prompts": dearer or None}))


def _at(prices: Mapping[str, Any], prompt_tokens: int) -> Price | None:
    found = {field: _amount(prices.get(name), prompt_tokens) for field, name in _FIELDS.items()}
    if found["input"] is None or found["output"] is None:
        return None
    fees = {what: float(prices[name]) for what, name in _FEES.items() if prices.get(name) is not None}
    return Price.model_validate({**found, "fees": fees or None})


def _amount(price: Any, prompt_tokens: int) -> float | None:
    if price is None or not hasattr(price, "tiers"):
        return None if price is None else float(price)
    amount = price.base
    for tier in price.tiers:
        if prompt_tokens > tier.start:
            amount = tier.price
    return float(amount)
