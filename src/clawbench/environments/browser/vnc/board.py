"""What is going on in the run, told to every open page at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from typing import Literal

from clawbench.environments.browser.vnc.windows import Window

Phase = Literal["preparing", "running", "stopping", "done"]


@dataclass(frozen=True)
class Notice:
    """The state of a run as a page shows it."""

    phase: Phase = "preparing"
    actions: int = 0
    requests: int = 0
    windows: tuple[Window, ...] = ()
    headline: str = ""
    detail: str = ""


class Board:
    """The latest notice, and everyone who reads it."""

    def __init__(self) -> None:
        self.notice = Notice()
        self._deadline: float | None = None
        self._changed = asyncio.Event()

    def begin(self, seconds: float) -> None:
        """The time limit has begun to run."""
        self._deadline = time.monotonic() + seconds
        self.post(phase="running")

    def post(self, **changes: object) -> None:
        notice = replace(self.notice, **changes)  # type: ignore[arg-type]
        if notice != self.notice or notice.phase == "running":
            self.notice = notice
            self._changed.set()
            self._changed = asyncio.Event()

    def as_json(self) -> str:
        left = None if self._deadline is None else round(max(0.0, self._deadline - time.monotonic()), 2)
        return json.dumps({**asdict(self.notice), "left_s": left})

    async def follow(self) -> AsyncIterator[str]:
        """Each state from now on, the last one being `done`."""
        while True:
            changed = self._changed
            yield self.as_json()
            if self.notice.phase == "done":
                return
            await changed.wait()
