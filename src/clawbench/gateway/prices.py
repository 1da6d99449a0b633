"""What a model's tokens cost: the model's own price, else the bundled price list, else unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from clawbench.models import Model
from clawbench.results import Price, Usage

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


@dataclass(frozen=True)
class PriceList:
    """A price, and dearer ones for calls whose prompt is longer than a threshold."""

    base: Price
    tiers: tuple[tuple[int, Price], ...] = ()
    """(start, price): applies to the whole call when its prompt has more tokens than `start`."""

    def cost(self, usage: Usage) -> float:
        price = self.base
        for start, dearer in self.tiers:
            if usage.prompt > start:
                price = dearer
        return price.cost(usage)


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
    return read_published(vars(info.get_prices(datetime.now(UTC))))


def read_published(prices: Mapping[str, Any]) -> PriceList | None:
    """A price list from genai-prices' fields; None unless both input and output have a price."""
    base = _at(prices, 0)
    if base is None:
        return None
    starts = {tier.start for name in _FIELDS.values() for tier in getattr(prices.get(name), "tiers", ())}
    tiers = ((start, _at(prices, start + 1)) for start in sorted(starts))
    return PriceList(base, tuple((start, price) for start, price in tiers if price is not None))


def _at(prices: Mapping[str, Any], prompt_tokens: int) -> Price | None:
    found = {field: _amount(prices.get(name), prompt_tokens) for field, name in _FIELDS.items()}
    if found["input"] is None or found["output"] is None:
        return None
    return Price.model_validate(found)


def _amount(price: Any, prompt_tokens: int) -> float | None:
    if price is None or not hasattr(price, "tiers"):
        return None if price is None else float(price)
    amount = price.base
    for tier in price.tiers:
        if prompt_tokens > tier.start:
            amount = tier.price
    return float(amount)
