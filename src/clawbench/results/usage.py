"""Tokens and money: one internal usage type with disjoint buckets."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Usage(BaseModel):
    """Tokens of one or many model calls. Buckets do not overlap; reasoning is a part of output."""

    model_config = ConfigDict(frozen=True)

    input: int = 0
    """Prompt tokens that were neither read from nor written to a cache."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    """All generated tokens, reasoning included."""
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )

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


class Price(BaseModel):
    """US dollars per million tokens, as used for this run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float
    output: float
    cached_input: float | None = None
    """Falls back to `input` where the provider has no cache price."""
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        read = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        millionths = (
            usage.input * self.input
            + usage.cache_read * read
            + usage.cache_write * write
            + usage.output * self.output
        )
        return dollars(millionths / 1_000_000)


class Metered(BaseModel):
    """What the gateway measured for one run."""

    calls: int = 0
    turns: int = 0
    """Model answers that the harness could use: calls that ended without an error."""
    errors: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None where the price is unknown: an unknown price is not zero."""
    latency_s: float = 0.0
    """Sum over all calls, from request to last byte."""
    scripted: bool = False
    """True where a scripted policy answered instead of a model: the cost is then notional."""
