"""Getting through to a browser that runs elsewhere, and saying clearly why not. Never tells the address."""

from __future__ import annotations

import asyncio
import ssl

import httpx
from websockets.exceptions import InvalidStatus, WebSocketException

from clawbench.environments.browser.cdp import CdpConnection, CdpError
from clawbench.environments.browser.remote.endpoint import FLAG, Endpoint, version_url, websocket_url
from clawbench.environments.browser.remote.hiding import hide_in_logs
from clawbench.environments.browser.remote.websocket import WebSocketTransport
from clawbench.errors import InputError

ANSWER_WITHIN_S = 15.0
PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}

NOT_THERE = "Start the browser with --remote-debugging-port, and check host, port and network"
NOT_LET_IN = "Check the token in the address: it may be wrong, spent or out of date"
NOT_ITS_NAME = "Chrome answers only to localhost and to its IP address: name it so, or give its ws:// address"
NOT_THIS_PATH = "It changes with every start of the browser: take a fresh one, or give http://HOST:PORT"
NOT_A_BROWSER = "Give the address of a Chrome or Chromium with remote debugging, or what your provider shows"


async def reach(endpoint: Endpoint) -> WebSocketTransport:
    """Connect to the browser; InputError says why not."""
    hide_in_logs(endpoint.url.get_secret_value())
    url = await _resolve(endpoint) if endpoint.over_http else endpoint.url.get_secret_value()
    hide_in_logs(url)
    try:
        return await WebSocketTransport.open(url, direct=endpoint.is_local)
    except InvalidStatus as answer:
        raise _status(endpoint, answer.response.status_code) from None
    except (WebSocketException, ValueError) as error:
        raise _no_browser(endpoint, type(error).__name__) from None
    except (OSError, EOFError) as error:
        raise _silent(endpoint, error) from None


async def check_endpoint(endpoint: Endpoint) -> None:
    """InputError where the browser cannot be reached, as far as asking has no consequences.

    Providers count a connection, and some end the browser with it; of those only the port is tried.
    """
    if endpoint.over_http:
        await _resolve(endpoint)
    elif endpoint.of_a_browser:
        cdp = CdpConnection(await reach(endpoint))
        try:
            await product(cdp, endpoint)
        finally:
            cdp.close()
    else:
        await _knock(endpoint)


async def product(cdp: CdpConnection, endpoint: Endpoint) -> str:
    """The browser's name and version; InputError where no browser speaks."""
    try:
        version = await cdp.send("Browser.getVersion", timeout=ANSWER_WITHIN_S)
        return str(version["product"])
    except (CdpError, KeyError):
        raise _no_browser(endpoint, "it does not say its version") from None


async def _resolve(endpoint: Endpoint) -> str:
    """The browser's WebSocket, as its HTTP side tells it."""
    try:
        async with httpx.AsyncClient(timeout=ANSWER_WITHIN_S, trust_env=not endpoint.is_local) as client:
            answer = await client.get(version_url(endpoint), follow_redirects=True)
    except httpx.HTTPError as error:
        raise _silent(endpoint, error) from None
    except (httpx.InvalidURL, ValueError):
        raise _no_browser(endpoint, "the address is not valid") from None
    if answer.status_code >= httpx.codes.BAD_REQUEST:
        raise _status(endpoint, answer.status_code, answer.text)
    try:
        told = answer.json()["webSocketDebuggerUrl"]
        return websocket_url(endpoint, str(told))
    except (ValueError, KeyError, TypeError):
        raise _no_browser(endpoint, "it names no WebSocket") from None


async def _knock(endpoint: Endpoint) -> None:
    parts = endpoint.parts
    if not endpoint.is_local and _proxied(parts.scheme):
        return
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or PORTS[parts.scheme])
    except OSError as error:
        raise _silent(endpoint, error) from None
    writer.close()


def _proxied(scheme: str) -> bool:
    from urllib.request import getproxies

    return any(name in getproxies() for name in (scheme, "https", "socks", "all"))


def _status(endpoint: Endpoint, status: int, text: str = "") -> InputError:
    problem = f"{endpoint.shown} refuses with HTTP {status}"
    if "Host header" in text:
        return InputError(problem, field=FLAG, remedy=NOT_ITS_NAME)
    remedies = {401: NOT_LET_IN, 402: NOT_LET_IN, 403: NOT_LET_IN, 404: NOT_THIS_PATH, 410: NOT_THIS_PATH}
    return InputError(problem, field=FLAG, remedy=remedies.get(status, NOT_A_BROWSER))


def _no_browser(endpoint: Endpoint, why: str) -> InputError:
    problem = f"{endpoint.shown} answers, but not as a browser does ({why})"
    return InputError(problem, field=FLAG, remedy=NOT_A_BROWSER)


def _silent(endpoint: Endpoint, error: Exception) -> InputError:
    return InputError(f"{endpoint.shown} cannot be reached ({_reason(error)})", field=FLAG, remedy=NOT_THERE)


def _reason(error: BaseException) -> str:
    """Why, in words that hold nothing of the address."""
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason}"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    below = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else None
    below = below or error.__cause__ or error.__context__
    return type(error).__name__ if below is None else _reason(below)
