"""How fast one model may be asked, by all runs together: concurrency that adapts, and keys in turn."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from pydantic import SecretStr

from clawbench.gateway.keyring import REFUSED, KeyRing
from clawbench.gateway.outage import TOLD_TO_WAIT

log = logging.getLogger("clawbench.gateway")

LONGEST_REST_S = 60.0
"""Harnesses give up on calls that are held much longer."""
GROW_AFTER = 8
"""Good answers in a row, per call at once, before one more is tried."""


@dataclass
class Pass:
    """Leave for one call."""

    key: int | None
    secret: SecretStr | None
    waited_s: float
    given_at: float


class Supply:
    """Halves the calls at once when the API says it is too much, and grows back by one."""

    def __init__(self, name: str, secrets: list[SecretStr]) -> None:
        self.name = name
        self.keys = KeyRing(secrets)
        self.limit: int | None = None
        """Calls at once; None until the API has first complained."""
        self.under_way = 0
        self._good = 0
        self._rests_until = 0.0
        self._backed_off_at = 0.0
        self._queue: deque[asyncio.Event] = deque()

    async def enter(self) -> Pass:
        """Wait for leave to ask: first come, first served."""
        came = time.monotonic()
        mine = asyncio.Event()
        self._queue.append(mine)
        try:
            while self._queue[0] is not mine or (wait := self._wait()) is not None:
                patience = None if self._queue[0] is not mine else wait
                mine.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(patience):
                        await mine.wait()
        finally:
            self._queue.remove(mine)
            self._wake()
        self.under_way += 1
        now = time.monotonic()
        taken = self.keys.take(now)
        number, secret = taken if taken is not None else (None, None)
        return Pass(number, secret, now - came, now)

    def heard(self, passed: Pass, status: int, retry_after: str | None, *, bad_key: bool = False) -> bool:
        """Learn from the status of an answer; True where it cost a key its place.

        `bad_key`: its body says so, whatever its status."""
        refused = bad_key or status in REFUSED
        if refused and passed.key is not None and self.keys.refuse(passed.key, status):
            log.warning("%s: key %d of %d set aside, HTTP %d", self.name, passed.key, len(self.keys), status)
            return True
        if status in TOLD_TO_WAIT:
            self._back_off(passed, seconds_of(retry_after))
        elif status < 400:
            self._good += 1
            if self.limit is not None and self._good >= GROW_AFTER * self.limit:
                self.limit, self._good = self.limit + 1, 0
                self._wake()
        return False

    def leave(self) -> None:
        """A call has ended, however it ended."""
        self.under_way -= 1
        self._wake()

    def _back_off(self, passed: Pass, rest_s: float) -> None:
        now = time.monotonic()
        if passed.given_at >= self._backed_off_at:
            # Complaints about calls from before the last step back are the same complaint.
            self.limit, self._good, self._backed_off_at = max(1, self.under_way // 2), 0, now
        until = now + min(rest_s, LONGEST_REST_S)
        if passed.key is None:
            self._rests_until = max(self._rests_until, until)
        else:
            self.keys.rest(passed.key, until)

    def _wait(self) -> float | None:
        """Seconds until the first in the queue may go; None where it may go now."""
        rest = max(self._rests_until, self.keys.ready_at()) - time.monotonic()
        if rest > 0:
            return rest
        full = self.limit is not None and self.under_way >= self.limit
        return LONGEST_REST_S if full else None

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].set()


def seconds_of(retry_after: str | None) -> float:
    """A Retry-After header, which holds seconds or a date; 0 where there is none to understand."""
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after or "").timestamp() - time.time())
    except ValueError:
        return 0.0
