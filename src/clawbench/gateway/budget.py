"""Hard caps: of one run, and on the cost of many together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clawbench.gateway.room import Room
from clawbench.results import Metered, dollars


@dataclass(frozen=True)
class Budget:
    """What a run may use; None means no cap. The call that reaches a cap is still answered."""

    cost_usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def spent(self, metered: Metered) -> str | None:
        """Which cap on cost or tokens the run has reached, in words."""
        if self.cost_usd is not None and metered.cost_usd is None and metered.unpriced:
            return f"the cost is unknown ({', '.join(metered.unpriced)}), so the cap on it cannot be kept"
        cost = None if metered.cost_usd is None else dollars(metered.cost_usd + metered.replayed_cost_usd)
        if self.cost_usd is not None and cost is not None and cost >= self.cost_usd:
            return f"cost reached ${cost:.6f} of ${self.cost_usd:g}"
        if self.tokens is not None and metered.usage.total >= self.tokens:
            return f"{metered.usage.total} of {self.tokens} tokens used"
        return None

    def share(self, cost_usd: float | None, tokens: int) -> float | None:
        """What part of the caps on cost and tokens this is; None where there is no such cap."""
        shares = []
        if self.cost_usd is not None:
            shares.append((cost_usd or 0.0) / self.cost_usd if self.cost_usd else 1.0)
        if self.tokens is not None:
            shares.append(tokens / self.tokens)
        return max(shares, default=None)

    def refuses(self, metered: Metered, calls_begun: int) -> str | None:
        """Why the next call may not begin."""
        if self.calls is not None and calls_begun >= self.calls:
            return f"all {self.calls} model calls used"
        return self.spent(metered)


class BatchBudget:
    """A cap on the cost of all runs of a batch together, held by the process that owns the batch.

    Every call of every run is added to it; when it is reached, each run under way is told at once.
    """

    def __init__(self, cost_usd: float | None = None, *, already_usd: float = 0.0) -> None:
        self.cost_usd = cost_usd
        self.used_usd = already_usd
        """What was spent so far; a batch that is resumed begins with what its journal says."""
        self.room = Room()
        self._unknown = False
        self._listeners: list[Callable[[str], None]] = []

    @property
    def spent(self) -> str | None:
        """That the cap is reached, in words."""
        if self.cost_usd is not None and self._unknown:
            return "the batch's cost is unknown since a call without a known price, so the cap cannot be kept"
        if self.cost_usd is None or self.used_usd < self.cost_usd:
            return None
        return f"the batch's cost reached ${self.used_usd:.6f} of ${self.cost_usd:g}"

    def share(self, cost_usd: float | None) -> float | None:
        """What part of the cap this is; None where there is none."""
        return Budget(cost_usd=self.cost_usd).share(cost_usd, 0)

    def add(self, cost_usd: float | None) -> None:
        """Count what a call cost (None: nobody knows); nobody is told before `announce`."""
        self._unknown = self._unknown or cost_usd is None
        self.used_usd = dollars(self.used_usd + (cost_usd or 0.0))

    def announce(self) -> None:
        """Tell every run where the cap is reached: its last call has been answered."""
        if spent := self.spent:
            for listener in list(self._listeners):
                listener(spent)

    def join(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def quit(self, listener: Callable[[str], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
