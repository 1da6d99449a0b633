"""requests.jsonl: one line for every request the browser sends, from whichever source tells most about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, CdpError, EventHandler
from clawbench.environments.browser.gate.bodies import Body, query_params, read_body
from clawbench.environments.browser.recorder.hops import FETCH, Hop, Hops
from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.environments.browser.recorder.outcomes import MEMORY_CACHE, Outcome

BODY_WITHIN_S = 0.5
"""How long a request waits for the paused event that carries its whole body before its page is asked."""
AT_MOST_S = 30.0
"""How long it waits where the page cannot tell: a paused event of 100 MB takes its time."""
TYPE_WITHIN_S = 0.1
"""How long a paused request waits for the network event that tells fetch(), EventSource and XHR apart."""
ANSWER_WITHIN_S = 5.0
AMBIGUOUS_TYPE, DOCUMENT = "XHR", "Document"
LARGE_BODY = 256 * 1024
MOST_OUTCOMES = 200_000
"""Lines of which the outcome is kept in memory until the end."""


class RequestLog:
    """Joins two sources by the request id: paused requests (with exact bodies) and network events."""

    def __init__(self, cdp: CdpConnection, lines: RecordFile, on_line: Callable[[], None]) -> None:
        self._cdp, self._lines, self._on_line = cdp, lines, on_line
        self._loop = asyncio.get_running_loop()
        self._hops = Hops()
        self._last_paused: Hop | None = None
        self._bodiless: dict[Hop, str | None] = {}
        """Those whose body is still to be told or asked for, and the session to ask."""
        self._outcomes: dict[int, Outcome] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: dict[str, str] = {}
        self.failures_count = True
        """Whether failures from now on are the requests' own."""
        self.why_unreachable: Callable[[str], str | None] = lambda _: None
        """Asked why there was no way to a URL."""

    def handlers(self) -> list[tuple[str, EventHandler]]:
        """What to call for which CDP event."""
        return [
            ("Network.requestWillBeSent", self.sent),
            ("Network.requestServedFromCache", self._served_from_memory),
            ("Network.responseReceived", self._answered),
            ("Network.loadingFinished", self._finished),
            ("Network.loadingFailed", self._failed),
            ("Network.webSocketCreated", self._socket_created),
            ("Network.webSocketWillSendHandshakeRequest", self._socket_handshake),
            ("Network.webSocketHandshakeResponseReceived", self._answered),
            ("Network.webSocketFrameError", self._socket_failed),
            ("Network.webSocketClosed", self._socket_closed),
        ]

    def paused(self, params: dict[str, Any]) -> None:
        """A Fetch.requestPaused event of the request stage."""
        if "responseStatusCode" in params or "responseErrorReason" in params:
            return
        request = params["request"]
        key = params.get("networkId") or self._hops.announced(request) or f"{FETCH}:{params['requestId']}"
        if "redirectedRequestId" not in params and (again := self._hops.held_again(key, request)):
            self._last_paused = again
            return
        hop, new = self._hops.find(key, request, FETCH)
        self._last_paused = hop
        if hop is None:
            return
        if new:
            kind = params.get("resourceType", "Other")
            hop.entry = request_line(key, request, kind, params.get("frameId"), time.time())
            if kind == AMBIGUOUS_TYPE and "networkId" in params:
                hop.request = request
                hop.waiting = self._loop.call_later(TYPE_WITHIN_S, self._write_waiting, hop)
            else:
                self._write_with_body(hop, request)
        elif hop in self._bodiless:
            self._settle(hop)
            self._write_with_body(hop, request)
        elif None not in (hop.told, body := _fingerprint(request)) and hop.told != body:
            hop.entry = hop.entry | {"timestamp": time.time(), "rewritten": True}
            self._write_with_body(hop, request)

    def blocked(self) -> None:
        """The request that was paused last will not leave."""
        if self._last_paused is not None:
            self._last_paused.outcome.blocked = True

    def sent(self, params: dict[str, Any], session: str | None) -> None:
        """A Network.requestWillBeSent event."""
        request = params["request"]
        hop, new = self._hops.find(params["requestId"], request, session or "")
        if hop is None:
            return
        hop.outcome.asked(params)
        if "redirectResponse" in params and (before := self._hops.before(params["requestId"], hop)):
            before.redirected(params)
        kind, sent_at = params.get("type", "Other"), params.get("wallTime") or time.time()
        if kind == DOCUMENT:
            self._ask_before_it_goes(session)
        if not new:
            if hop not in self._bodiless and hop.stop_waiting():
                hop.entry["resource_type"] = kind
                self._write_waiting(hop)
            return
        hop.entry = request_line(params["requestId"], request, kind, params.get("frameId"), sent_at)
        if _has_whole_body(request):
            hop.told = _fingerprint(request)
            self._write_with_body(hop, request)
        else:
            hop.request, self._bodiless[hop] = request, session
            hop.waiting = self._loop.call_later(BODY_WITHIN_S, self._ask_for_body, hop, False)

    async def close(self) -> dict[int, Outcome]:
        """Write what still waits for more; returns what is known about the lines, by their numbers."""
        for hop in tuple(self._bodiless):
            self._ask_for_body(hop)
        for hop in self._hops:
            if hop.stop_waiting():
                self._write_waiting(hop)
        for request_id in tuple(self._sockets):
            self._write_handshake(request_id, {}, {})
        while self._tasks:  # a body that has come is still to be parsed
            await asyncio.gather(*self._tasks)
        return self._outcomes

    # -- what becomes of them ----------------------------------------------------------------------

    def _served_from_memory(self, params: dict[str, Any], _session: str | None) -> None:
        if hop := self._hops.under_way(params["requestId"]):
            hop.outcome.served_from = MEMORY_CACHE

    def _answered(self, params: dict[str, Any], _session: str | None) -> None:
        if hop := self._hops.under_way(params["requestId"]):
            hop.outcome.answered(params, params["response"])

    def _finished(self, params: dict[str, Any], _session: str | None) -> None:
        if hop := self._hops.under_way(params["requestId"]):
            hop.outcome.finished(params)
            self._ask_for_body(hop)

    def _failed(self, params: dict[str, Any], _session: str | None) -> None:
        if hop := self._hops.under_way(params["requestId"]):
            if self.failures_count:
                hop.outcome.failed(params, self.why_unreachable(hop.url))
            self._ask_for_body(hop)

    # -- WebSockets --------------------------------------------------------------------------------

    def _socket_created(self, params: dict[str, Any], _session: str | None) -> None:
        self._sockets[params["requestId"]] = params["url"]

    def _socket_handshake(self, params: dict[str, Any], _session: str | None) -> None:
        """A WebSocket's opening request; it passes by the Fetch domain."""
        self._write_handshake(params["requestId"], params["request"].get("headers", {}), params)

    def _socket_failed(self, params: dict[str, Any], _session: str | None) -> None:
        self._write_handshake(params["requestId"], {}, params)
        if (hop := self._hops.under_way(params["requestId"])) and self.failures_count:
            hop.outcome.socket_failed(params, self.why_unreachable(hop.url))

    def _socket_closed(self, params: dict[str, Any], session: str | None) -> None:
        """One that got no connection is closed before its handshake."""
        self._write_handshake(params["requestId"], {}, params)
        self._finished(params, session)

    def _write_handshake(self, request_id: str, headers: dict[str, str], params: dict[str, Any]) -> None:
        url = self._sockets.pop(request_id, None)
        if url is None:
            return
        request = {"url": url, "method": "GET", "headers": headers}
        hop, _ = self._hops.find(request_id, request, "")
        if hop is not None:
            hop.outcome.asked(params)
            sent_at = params.get("wallTime") or time.time()
            hop.entry = request_line(request_id, request, "WebSocket", None, sent_at)
            self._write(hop, hop.entry, Body())

    # -- bodies ------------------------------------------------------------------------------------

    def _ask_before_it_goes(self, session: str | None) -> None:
        """A page takes the bodies of its requests with it."""
        for hop in [hop for hop, of in self._bodiless.items() if of == session]:
            self._ask_for_body(hop)

    def _settle(self, hop: Hop) -> None:
        """The body is there, or will not come."""
        hop.stop_waiting()
        del self._bodiless[hop]

    def _ask_for_body(self, hop: Hop, last: bool = True) -> None:
        """`last`: nobody else will tell."""
        if hop in self._bodiless:
            hop.stop_waiting()
            self._start(self._fetch_body(hop, self._bodiless[hop], last))

    async def _fetch_body(self, hop: Hop, session: str | None, last: bool) -> None:
        """Meanwhile the paused event may come, which settles it."""
        request = hop.request or {}
        wanted = {"requestId": hop.entry["id"]}
        try:
            answer = await self._cdp.send("Network.getRequestPostData", wanted, session, ANSWER_WITHIN_S)
            request = _with_body(request, answer)
        except CdpError:
            if not last and hop in self._bodiless:
                hop.waiting = self._loop.call_later(AT_MOST_S, self._ask_for_body, hop)
                return
        if hop in self._bodiless:
            self._settle(hop)
            self._write_with_body(hop, request)

    def _write_waiting(self, hop: Hop) -> None:
        hop.waiting = None
        self._write_with_body(hop, hop.request or {})

    def _write_with_body(self, hop: Hop, request: dict[str, Any]) -> None:
        if _body_size(request) < LARGE_BODY:
            self._write(hop, hop.entry, read_body(request))
        else:
            self._start(self._parse_and_write(hop, hop.entry, request))

    async def _parse_and_write(self, hop: Hop, entry: dict[str, Any], request: dict[str, Any]) -> None:
        self._write(hop, entry, await asyncio.to_thread(read_body, request))

    def _start(self, coroutine: Any) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _write(self, hop: Hop, entry: dict[str, Any], body: Body) -> None:
        hop.request = None
        incomplete = {} if body.complete else {"body_incomplete": True}
        line = self._lines.append(entry | {"body": body.value} | incomplete)
        if line is not None and len(self._outcomes) < MOST_OUTCOMES:
            self._outcomes[line] = hop.outcome
        self._on_line()


def request_line(
    request_id: str, request: dict[str, Any], resource_type: str, frame: str | None, timestamp: float
) -> dict[str, Any]:
    """A line of requests.jsonl, still without its body."""
    return {
        "timestamp": timestamp,
        "url": request["url"],
        "method": request["method"],
        "headers": request.get("headers", {}),
        "body": None,
        "query_params": query_params(request["url"]),
        "resource_type": resource_type,
        "id": request_id,
        "frame": frame or None,
    }


def _has_whole_body(request: dict[str, Any]) -> bool:
    if not request.get("hasPostData"):
        return True
    if entries := request.get("postDataEntries"):
        return all(entry.get("bytes") for entry in entries)
    return "postData" in request


def _with_body(request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The request with the answer of Network.getRequestPostData."""
    text = answer["postData"]
    if answer.get("base64Encoded"):
        return request | {"postDataEntries": [{"bytes": text}]}
    return request | {"postDataEntries": None, "postData": text}


def _fingerprint(request: dict[str, Any]) -> int | None:
    """Differs where bodies differ: another CDP client may have put a new one in. None: it cannot be read."""
    parts = tuple(entry.get("bytes") for entry in request.get("postDataEntries") or ())
    return None if None in parts else hash(parts)


def _body_size(request: dict[str, Any]) -> int:
    entries = request.get("postDataEntries") or ()
    return len(request.get("postData") or "") + sum(len(entry.get("bytes") or "") for entry in entries)
