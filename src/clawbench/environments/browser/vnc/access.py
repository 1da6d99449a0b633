"""Who may look: the one-time token of the address, exchanged for a cookie. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit


class Access:
    """The keys of one view. The first browser that shows the token gets the cookie; no other ever does."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.cookie_name = f"clawbench-view-{secrets.token_hex(4)}"
        """Cookies do not know ports: views beside each other need names of their own."""
        self._cookie = secrets.token_urlsafe(24)
        self._used = False

    def exchange(self, token: str) -> str | None:
        """The cookie's value for the right token, once."""
        if self._used or not same(token, self.token):
            return None
        self._used = True
        return self._cookie

    def admits(self, cookies: Mapping[str, str]) -> bool:
        return same(cookies.get(self.cookie_name, ""), self._cookie)


def same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def is_own_page(origin: str | None, host: str | None) -> bool:
    """Whether a WebSocket was opened by a page of this very server, as its browser addresses it."""
    return bool(origin and host) and urlsplit(origin).netloc == host
