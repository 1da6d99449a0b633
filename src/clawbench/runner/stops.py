"""Stop conditions: each is an object that waits for its own event and says what it saw."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from clawbench.results import StopReason


@dataclass(frozen=True)
class Stop:
    """What ended the agent's time."""

    reason: StopReason
    description: str


Condition = Callable[[], Awaitable[Stop]]


def after(seconds: float) -> Condition:
    """The time limit."""

    async def wait() -> Stop:
        await asyncio.sleep(seconds)
        return Stop(StopReason.TIME_LIMIT, f"The agent's time of {seconds:g} s is up")

    return wait


def idle(seconds: float, busy: Callable[[], bool], last_activity: Callable[[], float]) -> Condition:
    """No action and no model call for so long; a call under way is activity, however long it thinks."""

    async def wait() -> Stop:
        while True:
            quiet_for = 0.0 if busy() else time.monotonic() - last_activity()
            if quiet_for >= seconds:
                return Stop(StopReason.IDLE, f"No action and no model call for {seconds:g} s")
            await asyncio.sleep(seconds - quiet_for)

    return wait


def event(flag: asyncio.Event, stop: Stop) -> Condition:
    async def wait() -> Stop:
        await flag.wait()
        return stop

    return wait


def human_left(gone: Callable[[float], Awaitable[None]], grace_s: float) -> Condition:
    """The person who drives the browser has closed it, and has not come back in time."""

    async def wait() -> Stop:
        await gone(grace_s)
        return Stop(StopReason.HUMAN_LEFT, f"The person left and did not come back within {grace_s:g} s")

    return wait


async def first_of(conditions: Iterable[Condition], work: asyncio.Future[Any]) -> Stop | None:
    """The first condition that fires, or None if `work` ends first; the losers are cancelled."""
    waiting: list[asyncio.Task[Stop]] = [asyncio.ensure_future(condition()) for condition in conditions]
    try:
        await asyncio.wait([*waiting, work], return_when=asyncio.FIRST_COMPLETED)
        fired = [task.result() for task in waiting if task.done()]
        return fired[0] if fired else None
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
