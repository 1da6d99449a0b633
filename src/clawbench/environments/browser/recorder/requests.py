"""requests.jsonl: one line for every request the browser sends, from whichever source tells most about it."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, CdpError, EventHandler
from clawbench.environments.browser.gate.bodies import query_params, read_body
from clawbench.environments.browser.recorder.lines import RecordFile

RECORDED_SCHEMES = ("http:", "https:", "ws:", "wss:")
MOST_REMEMBERED = 10_000
RECENT = 500
BODY_WITHIN_S = 0.5
"""How long a request waits for the paused event that carries its whole body."""
TYPE_WITHIN_S = 0.1
"""How long a paused request waits for the network event that tells fetch(), EventSource and XHR apart."""
AMBIGUOUS_TYPE = "XHR"
LARGE_BODY = 256 * 1024
FETCH = "fetch"


@dataclass
class Hop:
    """One request, or one leg of a redirected one, and who has told of it."""

    url: str
    method: str
    sources: set[str]
    entry: dict[str, Any] = field(default_factory=dict)
    request: dict[str, Any] | None = None
    """With its body, where the line waits for nothing but the exact type."""
    waiting: asyncio.TimerHandle | None = None
    """Runs while the other source is still to tell."""
    told: int | None = None
    """Stands for the body as the page sent it, where that was told first."""

    def stop_waiting(self) -> bool:
        waited = self.waiting is not None
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
        return waited


class RequestLog:
    """Joins two sources by the request id: paused requests (with exact bodies) and network events."""

    def __init__(self, cdp: CdpConnection, lines: RecordFile, on_line: Callable[[], None]) -> None:
        self._cdp, self._lines, self._on_line = cdp, lines, on_line
        self._loop = asyncio.get_running_loop()
        self._hops: OrderedDict[str, list[Hop]] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: dict[str, str] = {}

    def handlers(self) -> list[tuple[str, EventHandler]]:
        """What to call for which CDP event."""
        return [
            ("Network.requestWillBeSent", self.sent),
            ("Network.webSocketCreated", self._socket_created),
            ("Network.webSocketWillSendHandshakeRequest", self._socket_handshake),
            ("Network.webSocketClosed", self._socket_closed),
        ]

    def paused(self, params: dict[str, Any]) -> None:
        """A Fetch.requestPaused event of the request stage."""
        if "responseStatusCode" in params or "responseErrorReason" in params:
            return
        request = params["request"]
        key = params.get("networkId") or self._announced(request) or f"{FETCH}:{params['requestId']}"
        hop, new = self._hop(key, request, FETCH)
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
        elif hop.request is None and hop.stop_waiting():
            self._write_with_body(hop, request)
        elif hop.told not in (None, _fingerprint(request)):
            hop.entry = hop.entry | {"timestamp": time.time(), "rewritten": True}
            self._write_with_body(hop, request)

    def sent(self, params: dict[str, Any], session: str | None) -> None:
        """A Network.requestWillBeSent event."""
        request = params["request"]
        hop, new = self._hop(params["requestId"], request, session or "")
        if hop is None:
            return
        if not new:
            if hop.request is not None and hop.stop_waiting():
                hop.entry["resource_type"] = params.get("type", AMBIGUOUS_TYPE)
                self._write_with_body(hop, hop.request)
            return
        kind, sent_at = params.get("type", "Other"), params.get("wallTime") or time.time()
        hop.entry = request_line(params["requestId"], request, kind, params.get("frameId"), sent_at)
        if _has_whole_body(request):
            hop.told = _fingerprint(request)
            self._write_with_body(hop, request)
        else:
            hop.waiting = self._loop.call_later(
                BODY_WITHIN_S, self._ask_for_body, hop, params["requestId"], request, session
            )

    def _socket_created(self, params: dict[str, Any], _session: str | None) -> None:
        self._sockets[params["requestId"]] = params["url"]

    def _socket_handshake(self, params: dict[str, Any], _session: str | None) -> None:
        """A WebSocket's opening request; it passes by the Fetch domain."""
        headers = params["request"].get("headers", {})
        self._write_handshake(params["requestId"], headers, params.get("wallTime") or time.time())

    def _socket_closed(self, params: dict[str, Any], _session: str | None) -> None:
        """One that got no connection is closed before its handshake."""
        self._write_handshake(params["requestId"], {}, time.time())

    def _write_handshake(self, request_id: str, headers: dict[str, str], timestamp: float) -> None:
        url = self._sockets.pop(request_id, None)
        if url is not None:
            request = {"url": url, "method": "GET", "headers": headers}
            self._write(request_line(request_id, request, "WebSocket", None, timestamp))

    async def close(self) -> None:
        """Write what still waits for more."""
        for hop in [hop for hops in self._hops.values() for hop in hops]:
            if hop.stop_waiting():
                self._write_waiting(hop)
        for request_id in tuple(self._sockets):
            self._write_handshake(request_id, {}, time.time())
        await asyncio.gather(*self._tasks)

    def _hop(self, key: str, request: dict[str, Any], source: str) -> tuple[Hop | None, bool]:
        """The hop this event tells of, and whether it is the first to do so; None: not recorded."""
        url, method = request["url"], request["method"]
        if not url.startswith(RECORDED_SCHEMES):
            return None, False
        hops = self._hops.setdefault(key, [])
        for hop in hops:
            if (hop.url, hop.method) == (url, method) and source not in hop.sources:
                hop.sources.add(source)
                return hop, False
        hops.append(Hop(url, method, {source}))
        while len(self._hops) > MOST_REMEMBERED:
            self._hops.popitem(last=False)
        return hops[-1], True

    def _announced(self, request: dict[str, Any]) -> str | None:
        """Where a request comes without its id (fetchLater): that of the one that a page announced."""
        for key, hops in islice(reversed(self._hops.items()), RECENT):
            for hop in hops:
                if (hop.url, hop.method) == (request["url"], request["method"]) and FETCH not in hop.sources:
                    return key
        return None

    def _write_waiting(self, hop: Hop) -> None:
        hop.waiting = None
        if hop.request is not None:
            self._write_with_body(hop, hop.request)
        else:
            self._write(hop.entry)

    def _ask_for_body(self, hop: Hop, request_id: str, request: dict[str, Any], session: str | None) -> None:
        hop.waiting = None
        self._start(self._fetch_body(hop, request_id, request, session))

    async def _fetch_body(
        self, hop: Hop, request_id: str, request: dict[str, Any], session: str | None
    ) -> None:
        try:
            answer = await self._cdp.send(
                "Network.getRequestPostData", {"requestId": request_id}, session, 5.0
            )
            request = {**request, "postData": answer["postData"], "postDataEntries": None}
        except CdpError:
            pass
        self._write(hop.entry | {"body": read_body(request).value})

    def _write_with_body(self, hop: Hop, request: dict[str, Any]) -> None:
        if _body_size(request) < LARGE_BODY:
            self._write(hop.entry | {"body": read_body(request).value})
        else:
            self._start(self._parse_and_write(hop.entry, request))

    async def _parse_and_write(self, entry: dict[str, Any], request: dict[str, Any]) -> None:
        body = await asyncio.to_thread(read_body, request)
        self._write(entry | {"body": body.value})

    def _start(self, coroutine: Any) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _write(self, entry: dict[str, Any]) -> None:
        self._lines.append(entry)
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


def _fingerprint(request: dict[str, Any]) -> int:
    """Differs where bodies differ: another CDP client may have put a new one in."""
    entries = request.get("postDataEntries") or ()
    return hash(tuple(entry.get("bytes") for entry in entries))


def _body_size(request: dict[str, Any]) -> int:
    return sum(len(entry.get("bytes") or "") for entry in request.get("postDataEntries") or ())
