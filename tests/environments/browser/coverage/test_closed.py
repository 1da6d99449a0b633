"""What a browser sends past the Fetch domain: switched off, so that nothing of it reaches the site."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser import EgressRules
from clawbench.results import StopReason
from tests.environments.browser.conftest import BROWSER, Opened, Site, html
from tests.environments.browser.coverage.pages import PAGES, with_header

pytestmark = pytest.mark.anyio

HOST = "secure.example"
SETTLED_S = 1.5
"""Reports were seen at the site 0.4 s after the page, where they were not switched off."""
ORDER = f"https://{HOST}/order"
ABSENT = (
    *("BackgroundFetchManager", "IdentityCredential", "PaymentRequest", "HTMLFencedFrameElement", "Fence"),
    *("navigator.runAdAuction", "navigator.joinAdInterestGroup", "document.browsingTopics", "sharedStorage"),
)


def reporting_page() -> Any:
    """Breaks its own policy, and asks for reports of that and of everything else."""
    status, headers, content = with_header(
        "Content-Security-Policy", "img-src 'none'; report-to main", "<img src=/free>"
    )
    more = {
        "Reporting-Endpoints": f'main="{ORDER}", default="{ORDER}"',
        "Report-To": f'{{"group":"nel","max_age":9999,"endpoints":[{{"url":"{ORDER}"}}]}}',
        "NEL": '{"report_to":"nel","max_age":9999,"success_fraction":1.0,"failure_fraction":1.0}',
    }
    return status, headers | more, content


def certificate(directory: Path) -> tuple[ssl.SSLContext, str]:
    """A certificate of its own, and the flag with which Chromium accepts it."""
    key, cert = directory / "key.pem", directory / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    make += ["-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", f"/CN={HOST}"]
    subprocess.run([*make, "-addext", f"subjectAltName=DNS:{HOST}"], check=True, capture_output=True)
    pin = (
        f"openssl x509 -in {cert} -pubkey -noout | openssl pkey -pubin -outform der"
        " | openssl dgst -sha256 -binary | openssl base64"
    )
    done = subprocess.run(["sh", "-c", pin], check=True, capture_output=True, text=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, f"--ignore-certificate-errors-spki-list={done.stdout.strip()}"


class SecureSite(Site):
    """The same over TLS."""

    context: ssl.SSLContext

    async def __aenter__(self) -> SecureSite:
        self._server = await asyncio.start_unix_server(self._serve, str(self.socket), ssl=self.context)
        return self


@pytest.fixture
def open_secure(open_session: Any, tmp_path: Path) -> Any:
    @asynccontextmanager
    async def opened(schema: dict[str, Any]) -> AsyncIterator[tuple[Opened, Site]]:
        context, flag = certificate(tmp_path)
        program = tmp_path / "bin" / "chromium"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {BROWSER} {flag} "$@"\n')
        program.chmod(0o755)
        site = SecureSite(
            tmp_path / "secure.sock", {**PAGES, "/reporting": reporting_page(), "/free": html("x")}
        )
        site.context = context
        egress = EgressRules(routes={HOST: site.socket}, internet=False)
        async with site, open_session(schema, program=program, egress=egress, closing_moment_s=0) as one:
            yield one, site

    return opened


async def test_no_reports_are_sent_and_nothing_else_that_is_not_seen(open_secure: Any) -> None:
    async with open_secure({}) as (opened, site):
        agent = await opened.page_client()
        await agent.go(f"https://{HOST}/reporting")
        await agent("Page.generateTestReport", message="for the default endpoint")
        absent = " + ' ' + ".join(f"typeof {name}" for name in ABSENT)
        assert set((await agent.run(absent)).split()) == {"undefined"}
        assert (
            await agent.run("new WebTransport('https://secure.example/order').ready.then(() => 1, () => 0)")
            == 0
        )
        await asyncio.sleep(SETTLED_S)
        assert site.got("/reporting")
        assert site.got("/order") == []
        await opened.session.stop(StopReason.AGENT_EXITED)
        assert [one["url"] for one in opened.requests() if "order" in one["url"]] == []


@pytest.mark.parametrize("opening", ["open('/order')", "location = '/order'"])
async def test_no_service_worker_sends_a_navigation_ahead(open_secure: Any, opening: str) -> None:
    async with open_secure({"method": "GET"}) as (opened, site):
        agent = await opened.page_client()
        await agent.go(f"https://{HOST}/")
        registered = (
            "navigator.serviceWorker.register('/preloading.js').then(() => 'registered', () => 'refused')"
        )
        assert await agent.run(registered) == "refused"
        await agent.run(f"{opening}; 0")
        async for event in opened.session.events():
            if event.event == "intercepted":
                break
        await opened.session.stop(StopReason.INTERCEPTED)
        assert site.got("/order") == []


async def test_pages_believe_that_they_are_online(open_site: Any) -> None:
    async with open_site({}) as opened:
        agent = await opened.page_client()
        await agent.go("http://shop.example/")
        told = "new Promise(done => addEventListener('online', () => done(true)))"
        assert await agent.run(f"navigator.onLine || {told}") is True
        in_worker = "new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob(["
        in_worker += "'postMessage(navigator.onLine)'])));"
        assert await agent.run(f"{in_worker} w.onmessage = e => done(e.data) }})") is True
        await opened.session.stop(StopReason.AGENT_EXITED)
