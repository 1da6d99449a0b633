"""Addresses of browsers: what is made of them, and what is never said of them."""

from __future__ import annotations

import http.server
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest

from clawbench.environments.browser.remote import Endpoint, parse_endpoint
from clawbench.environments.browser.remote.endpoint import secret_parts, version_url, websocket_url
from clawbench.environments.browser.remote.hiding import hide_in_logs
from clawbench.environments.browser.remote.reaching import check_endpoint
from clawbench.errors import InputError
from tests.environments.browser.remote.elsewhere import Elsewhere
from tests.environments.browser.remote.provider import provide
from tests.environments.browser.remote.site import Site

SECRET = "s3cret-token-0815"


def endpoint(url: str) -> Endpoint:
    return parse_endpoint(url, {})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:9222", "http://127.0.0.1:9222"),
        (f"wss://connect.example/?apiKey={SECRET}", "wss://connect.example"),
        (f"wss://user:{SECRET}@proxy.example:9222/x", "wss://proxy.example:9222"),
        (f"ws://[::1]:9222/devtools/browser/{SECRET}", "ws://[::1]:9222"),
    ],
)
def test_only_scheme_host_and_port_are_shown(url: str, shown: str) -> None:
    parsed = endpoint(url)
    assert parsed.shown == shown
    assert parsed.url.get_secret_value() == url
    assert SECRET not in repr(parsed)


def test_variables_are_filled_in() -> None:
    given = "wss://connect.example/?key=${KEY}&region=${REGION}"
    parsed = parse_endpoint(given, {"KEY": SECRET, "REGION": "eu"})
    assert parsed.url.get_secret_value() == f"wss://connect.example/?key={SECRET}&region=eu"
    with pytest.raises(InputError, match="KEY is not set"):
        parse_endpoint(given, {"REGION": "eu"})


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (f"/{SECRET}", "http, https, ws or wss"),
        (f"file:///{SECRET}", "http, https, ws or wss"),
        (f"http:///{SECRET}", "http, https, ws or wss"),
        (f"http://x:{SECRET}/", "is not an address"),
        (f"ws://x/devtools/page/{SECRET}", "single page"),
    ],
)
def test_what_is_no_address_is_not_repeated(url: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        endpoint(url)
    assert SECRET not in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://h:9222", "http://h:9222/json/version"),
        ("http://h:9222/", "http://h:9222/json/version"),
        ("http://h:9222/json/version/", "http://h:9222/json/version"),
        ("https://u:p@h/base?token=t", "https://u:p@h/base/json/version?token=t"),
    ],
)
def test_where_a_browser_is_asked_for_its_websocket(given: str, asked: str) -> None:
    assert version_url(endpoint(given)) == asked


@pytest.mark.parametrize(
    ("given", "told", "used"),
    [
        ("http://h:1", "ws://h:1/devtools/browser/x", "ws://h:1/devtools/browser/x"),
        ("http://h:1", "ws://127.0.0.1:9222/devtools/browser/x", "ws://h:1/devtools/browser/x"),
        ("https://h?token=t", "ws://localhost:9222/devtools/browser/x", "wss://h/devtools/browser/x?token=t"),
        ("https://u:p@h", "ws://h/devtools/browser/x", "wss://u:p@h/devtools/browser/x"),
        ("http://h:1?token=t", "wss://other.example/x?k=v", "wss://other.example/x?k=v"),
    ],
)
def test_a_websocket_is_used_as_it_is_reached_from_here(given: str, told: str, used: str) -> None:
    assert websocket_url(endpoint(given), told) == used


def test_logs_hold_no_part_of_the_address() -> None:
    output, logger = StringIO(), logging.getLogger()
    handler = logging.StreamHandler(output)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    try:
        url = f"wss://user:{SECRET}-pass@h/devtools/browser/{SECRET}-path?token={SECRET}%2Fquery"
        hide_in_logs(url)
        logging.warning("to %s", url)
        for part in secret_parts(url):
            logging.warning("part %s.", part)
        logging.warning("decoded %s/query", SECRET)
        logging.warning("kept: another line")
    finally:
        logger.removeHandler(handler)
    assert SECRET not in output.getvalue()
    assert "kept: another line" in output.getvalue()


@contextmanager
def chrome_that_knows_its_name() -> Iterator[int]:
    """What Chrome answers to a Host header that is no address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(500)
            self.end_headers()
            self.wfile.write(b"Host header is specified and is not an IP address or localhost.")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        yield server.server_address[1]
        thread.join()


@pytest.mark.anyio
async def test_why_a_browser_is_not_reached(elsewhere: Elsewhere, site: Site) -> None:
    async def refusal(url: str) -> str:
        with pytest.raises(InputError) as refused:
            await check_endpoint(endpoint(url))
        assert refused.value.field == "--browser-cdp"
        assert SECRET not in str(refused.value)
        return str(refused.value)

    port = elsewhere.port
    for path in ("", f"/devtools/browser/{SECRET}", f"/?token={SECRET}"):
        for scheme in ("http", "ws"):
            said = await refusal(f"{scheme}://127.0.0.1:9{path}")
            assert "127.0.0.1:9 cannot be reached (connection refused)" in said
    assert "cannot be reached (" in await refusal(f"http://no-such-host.invalid/{SECRET}")
    assert "HTTP 404. It changes with every start" in await refusal(
        f"ws://127.0.0.1:{port}/devtools/browser/{SECRET}"
    )
    assert "not as a browser does (it names no WebSocket)" in await refusal(site.url(f"/{SECRET}"))
    with chrome_that_knows_its_name() as named:
        assert "name it so, or give its ws:// address" in await refusal(f"http://127.0.0.1:{named}")
    async with provide(await elsewhere.websocket()) as provider:
        assert "HTTP 403. Check the token" in await refusal(provider.url("http", SECRET))
        await check_endpoint(endpoint(provider.url("http")))
        await check_endpoint(endpoint(provider.url("ws")))
        assert provider.connections == 0, "looking must not count as a use of the provider"
    await check_endpoint(endpoint(elsewhere.http))
    await check_endpoint(endpoint(await elsewhere.websocket()))
