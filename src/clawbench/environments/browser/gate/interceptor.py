"""Holds every request that could be the final one until it is decided; a match never leaves."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.gate.bodies import Body, query_params, read_body
from clawbench.environments.browser.gate.breadth import Breadth
from clawbench.environments.browser.gate.matching import Decision, concerns, decide
from clawbench.environments.browser.gate.sockets import HANDSHAKE, SocketGate
from clawbench.results import InterceptedRequest, Reserve, RunDirectory, json_document
from clawbench.tasks import EvalSchema, Method, Transport

SERVICE_WORKER = "service-worker"
"""The header with which the script of a service worker is asked for; pages cannot set it."""

TOKEN = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
"""What HTTP allows for a method."""


class Interceptor:
    """One `Fetch.enable` on the browser's own session, which covers every page, frame and worker."""

    def __init__(
        self,
        cdp: CdpConnection,
        schema: EvalSchema,
        run: RunDirectory,
        *,
        on_request: Callable[[dict[str, Any]], None],
        on_match: Callable[[InterceptedRequest], None],
        on_failure: Callable[[Exception], None],
        on_blocked: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_blocked` hears, after `on_request`, that this one will not leave."""
        self.matched: InterceptedRequest | None = None
        """The first request that matched."""
        self.blocked = 0
        self._cdp, self._schema, self._run = cdp, schema, run
        self._on_request, self._on_match, self._on_failure = on_request, on_match, on_failure
        self._on_blocked = on_blocked
        self.sockets = SocketGate(cdp, schema, self._socket_matched)
        self.breadth = Breadth(cdp, schema)

    async def start(self) -> None:
        """From the return on, all that could match is decided here; earlier documents must be reloaded."""
        self.sockets.start()
        self._cdp.on("Fetch.requestPaused", self._paused)
        await self.breadth.start()

    def _paused(self, paused: dict[str, Any], session: str | None) -> None:
        if session is not None:
            return
        self.breadth.paused(paused.get("resourceType", ""))
        try:
            self._on_request(paused)
            request = paused["request"]
            blocked = _is_none(request) or self._blocks(request) or self._would_send_ahead(request)
        except Exception as error:
            self._fail(paused)
            self._on_failure(error)
            return
        if blocked:
            self._fail(paused)
        else:
            self._cdp.notify("Fetch.continueRequest", {"requestId": paused["requestId"]})

    def _fail(self, paused: dict[str, Any]) -> None:
        self.blocked += 1
        self._cdp.notify(
            "Fetch.failRequest", {"requestId": paused["requestId"], "errorReason": "BlockedByClient"}
        )
        self._on_blocked()

    def _blocks(self, request: dict[str, Any]) -> bool:
        url, method = request["url"], request["method"]
        if not concerns(self._schema, url, method):
            return False
        params, body = query_params(url), read_body(request)
        decision = decide(self._schema, url, method, params, body)
        if decision is Decision.PASS:
            return False
        if self.matched is None:
            matched, record = interception(request, params, body, decision)
            self._save(matched, record)
        return True

    def _would_send_ahead(self, request: dict[str, Any]) -> bool:
        """A service worker can have navigations sent ahead of it, past the Fetch domain and without a body.

        Where a GET can be the final request, none is let in.
        """
        if self._schema.method is not Method.GET:
            return False
        return any(name.lower() == SERVICE_WORKER for name in request.get("headers", {}))

    def _socket_matched(self, url: str, body: Body, blocked: bool) -> None:
        self.blocked += blocked
        if self.matched is not None:
            return
        request = {"url": url, "method": HANDSHAKE}
        matched, record = interception(request, query_params(url), body, Decision.MATCH)
        record["request"]["transport"] = Transport.WEBSOCKET
        if not blocked:
            record["blocked"] = False
        try:
            self._save(matched, record)
        except Exception as error:
            self._on_failure(error)

    def _save(self, matched: InterceptedRequest, record: dict[str, Any]) -> None:
        Reserve(self._run.reserve).write(self._run.interception, json_document(record))
        self.matched = matched
        self._on_match(matched)


def _is_none(request: dict[str, Any]) -> bool:
    """Whether more than a method stands in its place: another CDP client could write whole requests there."""
    return TOKEN.fullmatch(request["method"]) is None


def interception(
    request: dict[str, Any], params: dict[str, Any], body: Body, decision: Decision
) -> tuple[InterceptedRequest, dict[str, Any]]:
    """The final request, and interception.json about it."""
    matched = InterceptedRequest(
        url=request["url"],
        method=request["method"],
        params=params,
        body=body.value,
        headers=request.get("headers", {}),
        timestamp=time.time(),
    )
    shown = {name: getattr(matched, name) for name in InterceptedRequest.model_fields}
    record: dict[str, Any] = {"intercepted": True, "request": shown}
    if decision is Decision.UNDECIDABLE:
        record["undecidable"] = "URL and method match; the body that decides could not be read completely"
    return matched, record
