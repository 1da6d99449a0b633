from __future__ import annotations

import asyncio
import time

import pytest

from clawbench.environments.browser.vnc.presence import Presence

pytestmark = pytest.mark.anyio


async def test_nobody_can_leave_before_somebody_came() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Presence().left(0.01), 0.1)


async def test_leaving_takes_the_whole_grace() -> None:
    presence = Presence()
    with presence.visit():
        leaving = asyncio.ensure_future(presence.left(0.2))
        await asyncio.sleep(0.3)
        assert not leaving.done(), "still here"
    gone_at = time.monotonic()
    await leaving
    assert 0.18 < time.monotonic() - gone_at < 1


async def test_coming_back_in_time_starts_the_grace_anew() -> None:
    presence = Presence()
    leaving = asyncio.ensure_future(presence.left(1.0))
    for _ in range(3):
        with presence.visit():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.4)
        assert not leaving.done()
    await asyncio.wait_for(leaving, 5)


async def test_a_second_tab_keeps_the_first_ones_place() -> None:
    presence = Presence()
    leaving = asyncio.ensure_future(presence.left(0.05))
    with presence.visit():
        with presence.visit():
            pass
        assert presence.here
        await asyncio.sleep(0.15)
        assert not leaving.done()
    await asyncio.wait_for(leaving, 2)
