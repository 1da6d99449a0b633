"""Bundled sites over https: a key of the run's own, trusted by its browser, and no other."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser import EgressRules
from clawbench.sites import serve_site
from clawbench.sites.certificate import make_certificate

pytestmark = pytest.mark.anyio

ORDER = {"url_pattern": r"^https://teahouse\.example/api/orders", "method": "POST"}


async def serve_with_another_key(directory: Path) -> asyncio.Server:
    directory.mkdir()
    certificate = make_certificate(["stranger.example"], directory)
    assert certificate is not None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.chain, certificate.key)
    return await asyncio.start_unix_server(lambda _, writer: writer.close(), directory / "sock", ssl=context)


async def test_a_bundled_site_is_a_secure_one_and_its_order_is_held(
    open_session: Any, tmp_path: Path
) -> None:
    async with serve_site("teahouse", tmp_path / "tea.sock") as site:
        if site.tls_socket is None:
            pytest.skip("openssl is not installed")
        stranger = await serve_with_another_key(tmp_path / "stranger")
        routes = dict.fromkeys(site.hosts, tmp_path / "tea.sock")
        tls_routes = dict.fromkeys(site.hosts, site.tls_socket)
        tls_routes["stranger.example"] = tmp_path / "stranger" / "sock"
        egress = EgressRules(routes=routes, tls_routes=tls_routes, internet=False)
        async with open_session(ORDER, egress=egress, trusted_key=site.key_hash) as opened:
            agent = await opened.page_client()
            await agent.go("https://teahouse.example/")
            assert await agent.run("isSecureContext && location.protocol") == "https:"
            assert (
                await agent.run("fetch('http://teahouse.example/').then(() => 'mixed', () => 'blocked')")
                == "blocked"
            )
            unknown = await agent("Page.navigate", url="https://stranger.example/")
            assert unknown["errorText"] == "net::ERR_CERT_AUTHORITY_INVALID"
            await agent.go("https://teahouse.example/")
            post = "fetch('/api/orders', {method: 'POST', body: '{}'}).then(() => 'sent', () => 'held')"
            assert await agent.run(post) == "held"
        stranger.close()
        assert site.orders == []
    assert opened.interception()["request"]["url"] == "https://teahouse.example/api/orders"
