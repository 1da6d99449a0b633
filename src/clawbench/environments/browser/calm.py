"""When to look at the screen: reading and packing pixels takes time that a page needs to answer an action."""

from __future__ import annotations

import time

CALM_AFTER_S = 0.010
"""By then an action has been answered, and whoever acts waits for the next frame."""
AT_MOST_S = 0.020
"""Actions that follow one another faster do not put off a look for longer."""


class Calm:
    """Shared by those who act and those who look, on any thread."""

    def __init__(self) -> None:
        self._stirred_at = 0.0

    def stir(self) -> None:
        """Something was done just now."""
        self._stirred_at = time.monotonic()

    def wait(self) -> None:
        """Return once a moment has passed since the last action, or soon in any case."""
        deadline = time.monotonic() + AT_MOST_S
        while (left := min(self._stirred_at + CALM_AFTER_S, deadline) - time.monotonic()) > 0:
            time.sleep(left)
