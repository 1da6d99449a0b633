"""Tokens and money: one internal usage type with disjoint buckets."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    computed_field,
    model_serializer,
)

_RARE = frozenset(("cache_write_1h", "input_audio", "cache_read_audio", "output_audio", "output_image"))


class Usage(BaseModel):
    """Tokens of one or many model calls. `input`, `cache_read`, `cache_write` and `output` do not overlap;
    every other field is a part of one of them."""

    model_config = ConfigDict(frozen=True)

    input: int = 0
    """Prompt tokens that were neither read from nor written to a cache."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    """All generated tokens, reasoning included."""
    reasoning: int = 0
    """Part of `output`."""
    cache_write_1h: int = 0
    """Part of `cache_write`: what is kept for an hour, which costs more than the usual minutes."""
    input_audio: int = 0
    """Part of `input`."""
    cache_read_audio: int = 0
    """Part of `cache_read`."""
    output_audio: int = 0
    """Part of `output`."""
    output_image: int = 0
    """Part of `output`."""

    @model_serializer(mode="wrap")
    def _without_absent_parts(self, handler: SerializerFunctionWrapHandler) -> dict[str, int]:
        # Few calls have them: a record is easier to read without five zeros.
        return {name: count for name, count in handler(self).items() if count or name not in _RARE}

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output

    @property
    def cache_hit_rate(self) -> float | None:
        """cache_read / (cache_read + input); None where nothing was sent."""
        seen = self.cache_read + self.input
        return self.cache_read / seen if seen else None


def dollars(amount: float) -> float:
    """Without the dust of binary fractions: prices have no digits beyond a billionth of a cent."""
    return round(amount, 11)


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens, as used for this run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Amount
    output: Amount
    cached_input: Amount | None = None
    """Falls back to `input` where the provider has no cache price."""
    cache_write: Amount | None = None
    cache_write_1h: Amount | None = None
    """Falls back to twice `input`, which is what the one provider with this lifetime asks."""
    input_audio: Amount | None = None
    cached_input_audio: Amount | None = None
    output_audio: Amount | None = None
    output_image: Amount | None = None
    fees: dict[str, Amount] | None = None
    """Per thousand uses of what is not paid by tokens: `web_search`, `file_search`, `request`."""
    service_tiers: dict[str, Price] | None = None
    """What other tiers (`flex`, `priority`, `batch`) cost. A tier that is not here has no known price."""
    long_prompts: dict[int, Price] | None = None
    """What the whole call costs instead where its prompt has more tokens than this number."""

    def for_prompt(self, tokens: int) -> Price:
        """The price of a call with a prompt of this length."""
        reached = [start for start in self.long_prompts or {} if tokens > start]
        return (self.long_prompts or {})[max(reached)] if reached else self

    def cost(self, usage: Usage) -> float:
        read = _or(self.cached_input, self.input)
        write = _or(self.cache_write, self.input)
        millionths = (
            usage.input * self.input
            + usage.cache_read * read
            + usage.cache_write * write
            + usage.output * self.output
            + usage.cache_write_1h * (_or(self.cache_write_1h, 2 * self.input) - write)
            + usage.input_audio * (_or(self.input_audio, self.input) - self.input)
            + usage.cache_read_audio * (_or(self.cached_input_audio, read) - read)
            + usage.output_audio * (_or(self.output_audio, self.output) - self.output)
            + usage.output_image * (_or(self.output_image, self.output) - self.output)
        )
        return dollars(millionths / 1_000_000)


def _or(price: float | None, fallback: float) -> float:
    return fallback if price is None else price


class Metered(BaseModel):
    """What the gateway measured for one run."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def cache_hit_rate(self) -> float | None:
        return self.usage.cache_hit_rate

    calls: int = 0
    turns: int = 0
    """Model answers that the harness could use: calls that ended without an error."""
    errors: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None where the price is unknown: an unknown price is not zero."""
    latency_s: float = 0.0
    """Sum over all calls, from request to last byte."""
    ttft_s: float = 0.0
    """Sum over the calls that were answered, from request to first byte."""
    answered: int = 0
    """Calls of which at least a first byte came, errors included."""
    retries: int = 0
    """Calls that repeat one which was told to come later, failed upstream or was broken off there."""
    billed_usd: float | None = None
    """What the provider itself says it charged, where it says so: kept beside our own figure."""
    unpriced: dict[str, int] = {}
    """What `cost_usd` leaves out, or why it is unknown, and how often: fees and tiers without a price."""
    scripted: bool = False
    """True where a scripted policy answered instead of a model: the cost is then notional."""
    replayed: int = 0
    """Calls that were answered from the record of another run, at no cost."""
    replayed_cost_usd: float = 0.0
    """What those had cost when they were recorded."""
