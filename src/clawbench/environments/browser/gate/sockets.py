"""WebSockets, which the Fetch domain does not hold: a handshake can be refused, a frame only seen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.gate.bodies import Body, query_params, read_frame
from clawbench.environments.browser.gate.matching import Decision, decide, decide_frame
from clawbench.tasks import EvalSchema, Method

log = logging.getLogger(__name__)

ANSWER_WITHIN_S = 10.0
HANDSHAKE = "GET"
PORTS = {"ws": 80, "wss": 443}

Admit = Callable[[str, int], Awaitable[bool]]
"""Whether a connection for a WebSocket to this host and port may be made."""
Take = Callable[[str, Body, bool], None]
"""Gets the socket's URL, what matched, and whether it was blocked."""


class SocketGate:
    """Follows every WebSocket of the browser; `take` hears of the one that matches."""

    def __init__(self, cdp: CdpConnection, schema: EvalSchema, take: Take) -> None:
        self._cdp, self._schema, self._take = cdp, schema, take
        self._urls: dict[str, str] = {}
        self._sessions: set[str] = set()
        self._refused: set[tuple[str, int]] = set()
        self._holding = False

    def start(self) -> None:
        self._cdp.on("Network.webSocketCreated", self._created)
        self._cdp.on("Network.webSocketFrameSent", self._frame_sent)
        self._cdp.on("Network.webSocketClosed", self._closed)
        self._cdp.on("Target.detachedFromTarget", self._detached)

    def follow(self, session: str) -> None:
        """A session that will tell of the WebSockets of its target."""
        self._sessions.add(session)

    def admission(self) -> Admit | None:
        """What must be asked before a WebSocket's connection is made and used; None: nothing."""
        self._holding = self._schema.method is Method.GET and not self._schema.over_websocket
        return self._admit if self._holding else None

    async def _admit(self, host: str, port: int) -> bool:
        """A handshake is a GET. Its URL is known once the page that opens the socket has told of it."""
        if not await self._all_has_been_told():
            log.warning("a WebSocket to %s:%d was refused: a page did not say which", host, port)
            return False
        return (plain_host(host), port) not in self._refused

    async def _all_has_been_told(self) -> bool:
        """Whether every page has answered: what it did before the question is then known."""
        questions = [self._cdp.call("Runtime.getIsolateId", None, session) for session in self._sessions]
        answers = asyncio.gather(*questions, return_exceptions=True)
        try:
            await asyncio.wait_for(answers, ANSWER_WITHIN_S)
        except TimeoutError:
            return False
        return True

    def _created(self, params: dict[str, Any], _session: str | None) -> None:
        url = self._urls[params["requestId"]] = params["url"]
        forms = (url, "http" + url.removeprefix("ws"))
        decisions = (decide(self._schema, form, HANDSHAKE, query_params(form), Body()) for form in forms)
        if Decision.MATCH in decisions:
            self._refused.add(address(url))
            self._take(url, Body(), self._holding)

    def _frame_sent(self, params: dict[str, Any], _session: str | None) -> None:
        url = self._urls.get(params["requestId"])
        if url is None or not self._schema.over_websocket:
            return
        frame = params["response"]
        body = read_frame(int(frame["opcode"]), frame["payloadData"])
        if decide_frame(self._schema, url, query_params(url), body) is not Decision.PASS:
            self._take(url, body, False)

    def _closed(self, params: dict[str, Any], _session: str | None) -> None:
        self._urls.pop(params["requestId"], None)

    def _detached(self, params: dict[str, Any], _session: str | None) -> None:
        self._sessions.discard(params["sessionId"])


def address(url: str) -> tuple[str, int]:
    """Host and port, as the browser asks its proxy for them."""
    parts = urlsplit(url)
    return plain_host(parts.hostname or ""), parts.port or PORTS[parts.scheme]


def plain_host(host: str) -> str:
    return host.lower().rstrip(".")
