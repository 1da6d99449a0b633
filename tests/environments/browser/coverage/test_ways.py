"""Every way of sending, each in a fresh browser: blocked at the site, exact in both records.

One run is in the default group, two more in the group `coverage`: three in a row.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.environments.browser.coverage import (
    ways_addresses,
    ways_bodies,
    ways_frames,
    ways_leaving,
    ways_loads,
    ways_page,
)
from tests.environments.browser.coverage.way import Way, try_blocked

pytestmark = pytest.mark.anyio

WAYS = [
    *ways_page.WAYS,
    *ways_frames.WAYS,
    *ways_leaving.WAYS,
    *ways_bodies.WAYS,
    *ways_addresses.WAYS,
    *ways_loads.WAYS,
]


def named(way: Way) -> str:
    return way.name


def test_there_are_many_and_no_two_are_the_same() -> None:
    assert len({way.name for way in WAYS}) == len(WAYS) >= 100


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, id=way.name, marks=pytest.mark.coverage if way.rare else ()) for way in WAYS],
)
async def test_the_final_request_is_blocked_and_logged(open_site: Any, way: Way) -> None:
    async with open_site(way.schema) as opened:
        await try_blocked(opened, way)


@pytest.mark.coverage
@pytest.mark.parametrize("way", WAYS, ids=named)
@pytest.mark.parametrize("turn", ["again", "once more"])
async def test_it_is_every_time(open_site: Any, way: Way, turn: str) -> None:
    async with open_site(way.schema) as opened:
        await try_blocked(opened, way)
