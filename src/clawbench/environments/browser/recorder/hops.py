"""Requests under way, by their ids: who has told of each, and what has still to be told."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from clawbench.environments.browser.recorder.outcomes import Outcome

RECORDED_SCHEMES = ("http:", "https:", "ws:", "wss:")
MOST_REMEMBERED = 10_000
RECENT = 500
FETCH = "fetch"
"""The source of paused requests; any other is the session of a network event."""


@dataclass(eq=False)
class Hop:
    """One request, or one leg of a redirected one, and who has told of it."""

    url: str
    method: str
    sources: set[str]
    entry: dict[str, Any] = field(default_factory=dict)
    outcome: Outcome = field(default_factory=Outcome)
    request: dict[str, Any] | None = None
    """As it was told first, while its line waits for the exact type or for the body."""
    waiting: asyncio.TimerHandle | None = None
    """Runs while the other source is still to tell."""
    told: int | None = None
    """Stands for the body as the page sent it, where that was told first."""

    def stop_waiting(self) -> bool:
        waited = self.waiting is not None
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
        return waited


class Hops:
    """The latest requests; the oldest are forgotten."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, list[Hop]] = OrderedDict()

    def __iter__(self) -> Iterator[Hop]:
        return (hop for hops in tuple(self._by_key.values()) for hop in hops)

    def find(self, key: str, request: dict[str, Any], source: str) -> tuple[Hop | None, bool]:
        """The hop this event tells of, and whether it is the first to do so; None: not recorded."""
        url, method = request["url"], request["method"]
        if not url.startswith(RECORDED_SCHEMES):
            return None, False
        hops = self._by_key.setdefault(key, [])
        for hop in hops:
            if (hop.url, hop.method) == (url, method) and source not in hop.sources:
                hop.sources.add(source)
                return hop, False
        hops.append(Hop(url, method, {source}))
        while len(self._by_key) > MOST_REMEMBERED:
            self._by_key.popitem(last=False)
        return hops[-1], True

    def held_again(self, key: str, request: dict[str, Any]) -> Hop | None:
        """The leg that was paused before and has no answer yet: fonts are paused twice, and sent once."""
        for hop in self.legs(key):
            same = (hop.url, hop.method) == (request["url"], request["method"])
            if same and FETCH in hop.sources and hop.outcome.status is None and hop.outcome.failure is None:
                return hop
        return None

    def announced(self, request: dict[str, Any]) -> str | None:
        """Where a request comes without its id (fetchLater): that of the one that a page announced."""
        for key, hops in islice(reversed(self._by_key.items()), RECENT):
            for hop in hops:
                if (hop.url, hop.method) == (request["url"], request["method"]) and FETCH not in hop.sources:
                    return key
        return None

    def legs(self, key: str) -> Sequence[Hop]:
        return self._by_key.get(key, ())

    def under_way(self, key: str) -> Hop | None:
        """The leg that an event without a URL tells of: the last that was asked for."""
        legs = self.legs(key)
        asked = (hop for hop in reversed(legs) if hop.outcome.asked_at is not None)
        return next(asked, legs[-1] if legs else None)

    def before(self, key: str, hop: Hop) -> Outcome | None:
        """The outcome of the leg that was redirected to this one."""
        hops = self._by_key[key]
        place = next(index for index, one in enumerate(hops) if one is hop)
        return hops[place - 1].outcome if place else None
