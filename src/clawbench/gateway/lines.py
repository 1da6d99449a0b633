"""Outgoing connections, in small pools: one pool's work grows with the square of the connections in it.

Requests go to httpx's transports, not through its client: its cookies, redirects and authentication are not
wanted here and take their time.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from urllib.request import getproxies, proxy_bypass

import httpx

TIMEOUT = httpx.Timeout(connect=20, read=900, write=120, pool=None)
"""A thinking model may be silent for minutes."""
CALLS_PER_POOL = 8
IDLE_S = 30.0
"""An agent thinks and acts between two calls; what was negotiated for the last should still be there."""


@dataclass(eq=False)
class Pool:
    proxy: str | None
    transport: httpx.AsyncHTTPTransport
    calls: int = 0

    async def post(self, url: httpx.URL, headers: dict[str, str], content: bytes) -> httpx.Response:
        """Send; the answer's body is still to come. Raises httpx.HTTPError."""
        timeouts = {"timeout": TIMEOUT.as_dict()}
        request = httpx.Request("POST", url, headers=headers, content=content, extensions=timeouts)
        response = await self.transport.handle_async_request(request)
        response.request = request
        return response


class Lines:
    """All connections of a gateway to the APIs of its models."""

    def __init__(self) -> None:
        self._pools: list[Pool] = []
        self._trust: ssl.SSLContext | None = None

    def take(self, url: httpx.URL) -> Pool:
        """A pool with room for one more call; `give_back` when that has ended."""
        proxy = _proxy_for(url)
        fitting = (pool for pool in self._pools if pool.proxy == proxy and pool.calls < CALLS_PER_POOL)
        pool = next(fitting, None)
        if pool is None:
            pool = Pool(proxy, self._transport(proxy))
            self._pools.append(pool)
        pool.calls += 1
        return pool

    def give_back(self, pool: Pool) -> None:
        pool.calls -= 1

    async def close(self) -> None:
        pools, self._pools = self._pools, []
        for pool in pools:
            await pool.transport.aclose()

    def _transport(self, proxy: str | None) -> httpx.AsyncHTTPTransport:
        if self._trust is None:
            self._trust = httpx.create_ssl_context()
        limits = httpx.Limits(max_connections=None, keepalive_expiry=IDLE_S)
        return httpx.AsyncHTTPTransport(verify=self._trust, limits=limits, proxy=proxy)


def _proxy_for(url: httpx.URL) -> str | None:
    """The machine's own setting: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY."""
    proxies = getproxies()
    if not proxies or proxy_bypass(url.host):
        return None
    found = proxies.get(url.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"
