"""Where a browser that already runs can be reached. The whole address counts as a secret. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit, urlunsplit

from pydantic import SecretStr

from clawbench.errors import InputError

FLAG = "--browser-cdp"
VARIABLE = "CLAWBENCH_BROWSER_CDP"
SCHEMES = ("http", "https", "ws", "wss")
EXAMPLE = "http://HOST:9222 or wss://HOST/devtools/browser/…"
BROWSER_PATH = "/devtools/browser/"
SHORTEST_SECRET = 6
PAGE_PATH = "/devtools/page/"

_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Endpoint:
    """An address that was looked at and makes sense."""

    url: SecretStr
    """As given; path, query and user may hold a token."""
    shown: str
    """What may be printed: scheme, host and port."""

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url.get_secret_value())

    @property
    def over_http(self) -> bool:
        """Whether the browser must first be asked for its WebSocket."""
        return self.parts.scheme in ("http", "https")

    @property
    def of_a_browser(self) -> bool:
        """Whether it is a browser's own WebSocket, which may be opened and left without consequences."""
        return self.parts.path.startswith(BROWSER_PATH)

    @property
    def is_local(self) -> bool:
        return is_this_machine(self.parts.hostname or "")


def parse_endpoint(given: str, environment: Mapping[str, str]) -> Endpoint:
    """Fill in `${VARIABLE}` and check what can be checked without the network."""
    url = _NAMED.sub(lambda found: _value(found[1], environment), given.strip())
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _refused("is not an address") from None
    if parts.scheme not in SCHEMES or not host:
        raise _refused("is not an address of the form http, https, ws or wss")
    if parts.path.startswith(PAGE_PATH):
        raise _refused("names a single page of a browser; the whole browser has to be watched")
    where = f"[{host}]" if ":" in host else host
    return Endpoint(SecretStr(url), f"{parts.scheme}://{where}" + (f":{port}" if port else ""))


def version_url(endpoint: Endpoint) -> str:
    """Where a browser says what its WebSocket is."""
    parts = endpoint.parts
    base = parts.path.rstrip("/").removesuffix("/json/version")
    return urlunsplit((parts.scheme, parts.netloc, f"{base}/json/version", parts.query, ""))


def websocket_url(endpoint: Endpoint, told: str) -> str:
    """The WebSocket a browser told of, as it is reached from here.

    Behind a proxy or a forwarded port browsers name the address they have themselves; and what let us in
    (user, query) lets us in again.
    """
    asked, answer = endpoint.parts, urlsplit(told)
    scheme = "wss" if asked.scheme == "https" else answer.scheme
    netloc, query = answer.netloc, answer.query
    if is_this_machine(answer.hostname or "") or answer.hostname == asked.hostname:
        netloc = asked.netloc
        query = query or asked.query
    return urlunsplit((scheme, netloc, answer.path, query, ""))


def secret_parts(url: str) -> list[str]:
    """Every part of an address that could let somebody in, the longest first."""
    parts = urlsplit(url)
    found = [url, parts.path, parts.query, parts.username or "", parts.password or ""]
    found += [value for _, value in parse_qsl(parts.query)]
    found += [quote(one, safe="") for one in found] + [unquote(one) for one in found]
    return sorted({one for one in found if len(one) >= SHORTEST_SECRET}, key=len, reverse=True)


def is_this_machine(host: str) -> bool:
    """Whether a host names the machine that speaks of it."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _value(name: str, environment: Mapping[str, str]) -> str:
    if not (value := environment.get(name, "")):
        raise InputError(f"environment variable {name} is not set", field=FLAG, remedy=f"export {name}=…")
    return value


def _refused(problem: str) -> InputError:
    return InputError(problem, field=FLAG, remedy=f"Write it as {EXAMPLE}")
