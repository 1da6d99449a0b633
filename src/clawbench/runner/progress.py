"""What a run tells the one who watches it, while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from clawbench.results import Metered


@dataclass
class Progress:
    """The live figures of one run; `changed` is called after each update."""

    title: str
    phase: str = "waiting"
    actions: int = 0
    requests: int = 0
    metered: Metered = field(default_factory=Metered)
    started: float = field(default_factory=time.monotonic)
    changed: Callable[[], None] = lambda: None
    tell: Callable[[str], None] = lambda _text: None
    """Says something to the user at once."""

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def restart(self) -> None:
        """Begin to count time now."""
        self.started = time.monotonic()
        self.enter("starting")

    def enter(self, phase: str) -> None:
        self.phase = phase
        self.changed()
