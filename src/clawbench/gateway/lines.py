"""Outgoing connections, in small pools: one pool's work grows with the square of the connections in it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

TIMEOUT = httpx.Timeout(connect=20, read=900, write=120, pool=None)
"""A thinking model may be silent for minutes."""
CALLS_PER_POOL = 8
IDLE_S = 30.0
"""An agent thinks and acts between two calls; what was negotiated for the last should still be there."""


@dataclass(eq=False)
class Pool:
    client: httpx.AsyncClient
    calls: int = 0


class Lines:
    """All connections of a gateway to the APIs of its models."""

    def __init__(self) -> None:
        self._pools: list[Pool] = []
        self._trust: ssl.SSLContext | None = None

    def take(self) -> Pool:
        """A pool with room for one more call; `give_back` when that has ended."""
        pool = next((pool for pool in self._pools if pool.calls < CALLS_PER_POOL), None)
        if pool is None:
            pool = Pool(self._client())
            self._pools.append(pool)
        pool.calls += 1
        return pool

    def give_back(self, pool: Pool) -> None:
        pool.calls -= 1

    async def close(self) -> None:
        pools, self._pools = self._pools, []
        for pool in pools:
            await pool.client.aclose()

    def _client(self) -> httpx.AsyncClient:
        if self._trust is None:
            self._trust = httpx.create_ssl_context()
        return httpx.AsyncClient(
            timeout=TIMEOUT,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_S),
            verify=self._trust,
            # What an API sets for one run must not come back to it with another.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
