"""Nothing is answered to a browser that may not look: in front of every route of a view."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clawbench.environments.browser.vnc.access import Access, is_own_page

TOKEN = "token"
SAFE = ("GET", "HEAD")
REFUSED = Path(__file__).parent / "page" / "refused.html"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """ASGI middleware: the token is exchanged for the cookie here, and the cookie is asked for here."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(Request(scope), receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = HTTPConnection(scope)
        if _is_own(asked) and self._access.admits(asked.cookies):
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # before it was accepted: HTTP 403

    async def _http(self, request: Request, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        known = self._access.admits(request.cookies) and (request.method in SAFE or _is_own(request))
        answer: ASGIApp
        if TOKEN in request.query_params:
            answer = self._enter(request, known)
        else:
            answer = self._app if known else _refusal()
        await answer(request.scope, receive, send_with_headers)

    def _enter(self, request: Request, known: bool) -> Response:
        """Swap the token for the cookie and take it out of the address bar."""
        onward = RedirectResponse("/", status_code=303)
        if known:
            return onward
        if request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", ""):
            return Response(status_code=503)  # a look ahead must not use the token up
        cookie = self._access.exchange(request.query_params[TOKEN])
        if cookie is None:
            return _refusal()
        onward.set_cookie(self._access.cookie_name, cookie, httponly=True, samesite="lax")
        return onward


def _is_own(asked: HTTPConnection) -> bool:
    return is_own_page(asked.headers.get("origin"), asked.headers.get("host"))


def _refusal() -> Response:
    return HTMLResponse(REFUSED.read_text(encoding="utf-8"), 403)
