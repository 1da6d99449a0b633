"""In front of every route: who may speak to the recorder. Pages, other hosts' names and strangers may not."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_NAMES = frozenset({"127.0.0.1", "localhost"})
"""Any other name in `Host` is a page that had its own name point here."""
EXTENSION = "chrome-extension"
BEARER = "Bearer "
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Refusal(Exception):
    """What the caller is told instead of an answer."""

    def __init__(self, status: int, problem: str) -> None:
        self.status, self.problem = status, problem
        super().__init__(problem)

    def answer(self) -> JSONResponse:
        headers = {"WWW-Authenticate": "Bearer"} if self.status == 401 else None
        return JSONResponse({"error": self.problem}, self.status, headers)


class Guard:
    """ASGI middleware; `open_paths` hold nothing secret and need no token."""

    def __init__(self, app: ASGIApp, token: str, open_paths: Collection[str]) -> None:
        self._app, self._token, self._open_paths = app, token, open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            return
        answer = self._app
        try:
            self._check(Request(scope))
        except Refusal as refusal:
            answer = refusal.answer()
        await answer(scope, receive, send_with_headers)

    def _check(self, request: Request) -> None:
        if _name(request.headers.get("host", "")) not in OWN_NAMES:
            raise Refusal(403, "the recorder answers to 127.0.0.1 and localhost only")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).scheme != EXTENSION:
            raise Refusal(403, "pages may not speak to the recorder")
        if request.url.path in self._open_paths:
            return
        given = request.headers.get("authorization", "")
        if not given.startswith(BEARER):
            raise Refusal(401, "send the session's token as `Authorization: Bearer TOKEN`")
        if not secrets.compare_digest(given.removeprefix(BEARER).encode(), self._token.encode()):
            raise Refusal(401, "this is not the session's token")


def _name(host: str) -> str:
    return host.rpartition(":")[0] if ":" in host else host
