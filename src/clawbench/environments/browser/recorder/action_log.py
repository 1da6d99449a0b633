"""actions.jsonl: lines in the order in which things happened, whoever tells of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from clawbench.environments.browser.recorder.actions import Timeline, action_line
from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.environments.browser.recorder.order import Order, Pending

TIMER_RESOLUTION_S = 0.001


class ActionLog:
    """Takes events in as they are told, and writes them as they happened."""

    def __init__(
        self,
        path: Path,
        *,
        show_secrets: bool,
        on_line: Callable[[], None],
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        self._lines = RecordFile(path, on_problem)
        self._show_secrets, self._on_line = show_secrets, on_line
        self._loop = asyncio.get_running_loop()
        self._timeline, self._order = Timeline(), Order()
        self._latest: dict[str | None, int] = {}
        """The timestamp of each source's last event."""

    @property
    def count(self) -> int:
        return self._lines.count

    @property
    def problem(self) -> str | None:
        """Why the first missing line could not be written."""
        return self._lines.problem

    def place(self, event_ms: float) -> int:
        """A moment of the record: the event's own time, where it is believable."""
        return self._timeline.place(event_ms, time.time() * 1000)

    def put(
        self,
        seen: dict[str, Any],
        frame: str | None,
        screenshot: Callable[[int], str],
        *,
        source: str | None,
        held: bool = False,
    ) -> Pending:
        """Take in an event; `screenshot` names its picture by the timestamp it gets."""
        # What one source tells stays in its order, whatever its clock says.
        timestamp = self._latest[source] = max(self.place(seen["time"]), self._latest.get(source, 0))
        pending = Pending(seen, timestamp, frame, screenshot(timestamp), held)
        if wait := self._order.put(pending, source, self._loop.time()):
            self._loop.call_later(wait, self.write_ready)
        return pending

    def write_ready(self) -> None:
        """Write what has waited long enough for others."""
        # A timer may come a moment before its time.
        self._write(self._order.ready(self._loop.time() + TIMER_RESOLUTION_S))

    def close(self) -> None:
        """Write the rest, whatever it waits for."""
        self._write(self._order.rest())
        self._lines.close()

    def _write(self, in_order: Iterable[Pending]) -> None:
        for pending in in_order:
            line = action_line(
                pending.seen,
                timestamp=pending.timestamp,
                frame=pending.frame,
                screenshot=pending.screenshot,
                show_secrets=self._show_secrets,
            )
            self._lines.append(line)
            self._timeline.wrote(pending.timestamp)
            self._on_line()
