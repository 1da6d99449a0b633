"""From what the injected script saw to a line of actions.jsonl. Pure."""

from __future__ import annotations

from typing import Any

TEXT_LENGTH = 100
"""Characters of a target's text that are kept."""
VALUE_LENGTH = 200
"""Characters of a field's value (and of a page's title) that are kept."""
NAME_LENGTH = 1000
"""Characters of a target's id and classes that are kept."""
ADDRESS_LENGTH = 8192
"""Characters of a URL (a `data:` URL may hold a whole page) and of an XPath that are kept."""
MASK = "••••"
"""Stands for any value or key of a password field, whatever its length."""
LARGEST_CLOCK_ERROR_MS = 2000

COPIED = (
    *("url", "target", "x", "y", "key", "value", "checked", "title", "scrollX", "scrollY", "trusted"),
    "source",  # where the recorder itself is not: an outside tool
)


def action_line(
    seen: dict[str, Any], *, timestamp: int, frame: str | None, screenshot: str | None, show_secrets: bool
) -> dict[str, Any]:
    """The line for an event; keys and values of password fields are masked unless `show_secrets`."""
    line: dict[str, Any] = {"type": seen["type"], "timestamp": timestamp}
    line |= {name: seen[name] for name in COPIED if seen.get(name) is not None}
    if seen.get("secret") and not show_secrets:
        line |= {name: MASK for name in ("key", "value") if name in line}
    return line | {"frame": frame, "screenshot": screenshot}


def with_inner_target(seen: dict[str, Any], inner: dict[str, Any] | None) -> dict[str, Any]:
    """`seen` on a possible host of a closed shadow root, after the browser was asked what is inside.

    Without an answer (`None`) a key may have gone into a password field, so it counts as secret.
    """
    return seen | ({"secret": True} if inner is None else inner)


class Timeline:
    """Timestamps that never run backwards from line to line, whichever process an event comes from."""

    def __init__(self) -> None:
        self._written = 0

    def place(self, event_ms: float, now_ms: float) -> int:
        """The event's own time where it is believable, else now; never before a line already written."""
        believable = 0 <= now_ms - event_ms <= LARGEST_CLOCK_ERROR_MS
        return max(self._written, int(event_ms if believable else now_ms))

    def wrote(self, timestamp: int) -> None:
        self._written = timestamp
