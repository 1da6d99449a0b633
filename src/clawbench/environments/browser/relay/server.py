"""The relay: CDP for the agent on a unix socket, with every command logged and judged."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import secrets
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from clawbench.environments.browser.cdp import CdpConnection, CdpError, Message
from clawbench.environments.browser.recorder.contexts import Contexts
from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.environments.browser.relay.agent import Agent
from clawbench.environments.browser.relay.policy import (
    BLANK,
    RefusalError,
    RelayRules,
    Seat,
    closed_by,
    for_log,
    is_visible,
    judge,
)
from clawbench.environments.browser.relay.wire import Head, Listener, Reply, Wire
from clawbench.sandbox import PassedConnections

REFUSED = Reply(HTTPStatus.FORBIDDEN, b"refused")
NOT_FOUND = Reply(HTTPStatus.NOT_FOUND, b"not found")
TYPING = ("Input.", "Runtime.callFunctionOn")
"""Commands through which clients type; some write into fields by a function of theirs."""


class Relay:
    """Serves clients of the agent; each gets sessions of its own on the one browser."""

    def __init__(
        self,
        cdp: CdpConnection,
        rules: RelayRules,
        log: RecordFile,
        contexts: Contexts,
        on_command: Callable[[int], None] = lambda _: None,
        before_command: Callable[[str, str | None], None] = lambda _method, _target: None,
    ) -> None:
        """`on_command` hears how many commands there have been.

        `before_command` hears what is about to be done, and to which target.
        """
        self.commands = 0
        self.refused = 0
        self.targets: dict[str, dict[str, Any]] = {}
        """What the agent may see, by id."""
        self.contexts = contexts
        self._closing: set[str] = set()
        """Those that are there, but not for long."""
        self._cdp, self._rules, self._log = cdp, rules, log
        self._on_command, self._before_command = on_command, before_command
        self._id = secrets.token_hex(16)
        self._agents: dict[Wire, Agent] = {}
        self._server: asyncio.Server | None = None
        self._passed: PassedConnections | None = None
        self._socket: Path | None = None
        self._version: dict[str, Any] = {}

    async def serve(self, socket: Path) -> None:
        """Return once clients can connect."""
        self._version = await self._cdp.send("Browser.getVersion")
        watching = (await self._cdp.send("Target.attachToBrowserTarget"))["sessionId"]
        self._cdp.claim(watching, self._watch)
        await self._cdp.send("Target.setDiscoverTargets", {"discover": True}, session=watching)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self._wire, str(socket))
        self._socket = socket
        socket.chmod(0o600)
        self._passed = PassedConnections(socket, self._wire)
        self._passed.start()

    def _wire(self) -> Wire:
        return Wire(self._accept)

    async def close(self) -> None:
        """Cut every client off."""
        if self._server is not None:
            self._server.close()
        if self._passed is not None:
            self._passed.close()
        for wire in tuple(self._agents):
            wire.close()
        for wire in tuple(self._agents):
            self.leave(wire)
        self._log.close()
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)

    @property
    def pages(self) -> frozenset[str]:
        """Those that stay open."""
        pages = (name for name, info in self.targets.items() if info["type"] == "page")
        return frozenset(pages) - self._closing

    def closes(self, target: str | None) -> None:
        """A command that closes it is on its way."""
        if target in self.targets:
            self._closing.add(target)

    # -- events ----------------------------------------------------------------------------------

    def _watch(self, message: Message) -> None:
        method, params = message["method"], message.get("params", {})
        if method in ("Target.targetCreated", "Target.targetInfoChanged"):
            info = params["targetInfo"]
            if is_visible(info):
                self.targets[info["targetId"]] = info
            else:
                self.targets.pop(info["targetId"], None)
        elif method == "Target.targetDestroyed":
            self.targets.pop(params["targetId"], None)
            self._closing.discard(params["targetId"])

    def _note(
        self, kind: str, target: str | None, method: str, params: dict[str, Any], decision: str
    ) -> None:
        self.commands += 1
        self.refused += decision != "allowed"
        entry = {
            "timestamp": time.time(),
            "session": kind,
            "target": target,
            "method": method,
            "params": for_log(params, typed=method.startswith(TYPING)),
            "decision": decision,
        }
        keep = self._log.append_soon if decision == "allowed" else self._log.append
        keep(entry)
        self._on_command(self.commands)

    # -- connections -----------------------------------------------------------------------------

    async def _accept(self, head: Head, wire: Wire) -> Reply | Listener:
        if not is_local(head.headers.get("host", "")):
            return Reply(HTTPStatus.INTERNAL_SERVER_ERROR, b"Host header must be an IP address or localhost")
        if (origin := head.headers.get("origin")) and not is_local(urlsplit(origin).netloc):
            return REFUSED
        path = urlsplit(head.path).path
        try:
            if head.wants_socket:
                return await self._seat_agent(path, wire)
            return await self._answer(head, path)
        except CdpError as error:
            return Reply(HTTPStatus.INTERNAL_SERVER_ERROR, str(error).encode())

    async def _seat_agent(self, path: str, wire: Wire) -> Reply | Listener:
        _, *words = path.split("/")
        if len(words) != 3 or words[0] != "devtools":
            return NOT_FOUND
        kind, name = words[1], words[2]
        if kind == "browser" and name == self._id:
            target = None
        elif kind == "page" and name in self.targets:
            target = name
        else:
            return NOT_FOUND
        agent = Agent(self._cdp, self._rules, self, wire, self._note, self._before_command)
        self._agents[wire] = agent
        try:
            await agent.sit_down(target)
        except BaseException:
            del self._agents[wire]
            raise
        return _Seated(self, wire, agent)

    def leave(self, wire: Wire) -> None:
        agent = self._agents.pop(wire, None)
        if agent is not None:
            agent.gone()

    # -- the HTTP endpoints ----------------------------------------------------------------------

    async def _answer(self, head: Head, path: str) -> Reply:
        host = head.headers.get("host", "localhost")
        words = [word for word in path.split("/") if word]
        if words == ["json", "version"]:
            return as_json(self._describe_browser(host))
        if words in (["json"], ["json", "list"]):
            return as_json([self._describe(info, host) for info in self.targets.values()])
        if words == ["json", "new"]:
            return await self._new_page(head, host)
        if len(words) == 3 and words[:2] == ["json", "activate"]:
            return await self._over_http("Target.activateTarget", words[2], b"Target activated")
        if len(words) == 3 and words[:2] == ["json", "close"]:
            return await self._over_http("Target.closeTarget", words[2], b"Target is closing")
        return NOT_FOUND

    def _describe_browser(self, host: str) -> dict[str, Any]:
        version = self._version
        return {
            "Browser": version["product"],
            "Protocol-Version": version["protocolVersion"],
            "User-Agent": version["userAgent"],
            "V8-Version": version["jsVersion"],
            "WebKit-Version": version["revision"],
            "webSocketDebuggerUrl": f"ws://{host}/devtools/browser/{self._id}",
        }

    def _describe(self, info: dict[str, Any], host: str) -> dict[str, Any]:
        name = info["targetId"]
        return {
            "description": "",
            "id": name,
            "title": info["title"],
            "type": info["type"],
            "url": info["url"],
            "webSocketDebuggerUrl": f"ws://{host}/devtools/page/{name}",
        }

    async def _new_page(self, head: Head, host: str) -> Reply:
        if head.method != "PUT":
            return Reply(HTTPStatus.METHOD_NOT_ALLOWED, b"Using unsafe HTTP verb. Use PUT.")
        url = unquote(head.path.partition("?")[2]) or BLANK
        try:
            result = await self._send_judged("Target.createTarget", {"url": url})
        except RefusalError as refusal:
            return Reply(HTTPStatus.FORBIDDEN, str(refusal).encode())
        info = await self._cdp.send("Target.getTargetInfo", {"targetId": result["targetId"]})
        return as_json(self._describe(info["targetInfo"], host))

    async def _over_http(self, method: str, target: str, done: bytes) -> Reply:
        try:
            await self._send_judged(method, {"targetId": target})
        except RefusalError as refusal:
            return Reply(HTTPStatus.NOT_FOUND, str(refusal).encode())
        return Reply(HTTPStatus.OK, done, "text/html; charset=UTF-8")

    async def _send_judged(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        seat = Seat("browser", pages=self.pages, targets=frozenset(self.targets))
        try:
            allowed = judge(self._rules, seat, method, params)
        except RefusalError as refusal:
            self._note("http", None, method, params, f"refused: {refusal}")
            raise
        closed = closed_by(method, allowed, None)
        self._before_command(method, closed)
        self.closes(closed)
        self._note("http", None, method, params, "allowed")
        return await self._cdp.send(method, allowed)


class _Seated:
    """Ties a WebSocket to its agent."""

    def __init__(self, relay: Relay, wire: Wire, agent: Agent) -> None:
        self._relay, self._wire = relay, wire
        self.received = agent.received

    def gone(self) -> None:
        self._relay.leave(self._wire)


def as_json(value: Any) -> Reply:
    return Reply(HTTPStatus.OK, json.dumps(value, indent=3).encode())


def is_local(host: str) -> bool:
    """Whether a Host header names localhost or an address, so that no web page can pose as the agent."""
    name = urlsplit(f"//{host}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
