"""Hard caps of one run."""

from __future__ import annotations

from dataclasses import dataclass

from clawbench.results import Metered


@dataclass(frozen=True)
class Budget:
    """What a run may use; None means no cap. The call that reaches a cap is still answered."""

    cost_usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def spent(self, metered: Metered) -> str | None:
        """Which cap on cost or tokens the run has reached, in words."""
        if self.cost_usd is not None and metered.cost_usd is not None and metered.cost_usd >= self.cost_usd:
            return f"cost reached ${metered.cost_usd:.6f} of ${self.cost_usd:g}"
        if self.tokens is not None and metered.usage.total >= self.tokens:
            return f"{metered.usage.total} of {self.tokens} tokens used"
        return None

    def refuses(self, metered: Metered, calls_begun: int) -> str | None:
        """Why the next call may not begin."""
        if self.calls is not None and calls_begun >= self.calls:
            return f"all {self.calls} model calls used"
        return self.spent(metered)
