"""A session with a site of its own: the site remembers what reached it, the agent speaks to the relay."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed

from clawbench.environments.browser import BrowserSession, EgressRules, SessionConfig, SessionEvent
from clawbench.results import RunDirectory, read_json_lines

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
NEEDED = ("Xvfb", "ffmpeg", "bwrap")

Answer = tuple[str, dict[str, str], bytes]


@dataclass(frozen=True)
class Arrived:
    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes


def html(text: str) -> Answer:
    return "200 OK", {"Content-Type": "text/html; charset=utf-8"}, f"<!doctype html>{text}".encode()


def script(text: str) -> Answer:
    return "200 OK", {"Content-Type": "text/javascript"}, text.encode()


def redirect(status: str, location: str) -> Answer:
    return status, {"Location": location, "Access-Control-Allow-Origin": "*"}, b""


NOT_FOUND: Answer = ("404 Not Found", {"Content-Type": "text/plain"}, b"not found")


@dataclass
class Site:
    """Answers by path; several host names may share one socket."""

    socket: Path
    pages: dict[str, Answer | Callable[[Arrived], Answer]] = field(default_factory=dict)
    arrived: list[Arrived] = field(default_factory=list)
    _server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def __aenter__(self) -> Site:
        self._server = await asyncio.start_unix_server(self._serve, str(self.socket))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in tuple(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    def got(self, path: str, method: str | None = None) -> list[Arrived]:
        return [
            one for one in self.arrived if one.path.split("?")[0] == path and method in (None, one.method)
        ]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                self.arrived.append(request)
                writer.write(self._answer(request))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _answer(self, request: Arrived) -> bytes:
        page = self.pages.get(request.path.split("?")[0], NOT_FOUND)
        status, headers, content = page(request) if callable(page) else page
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in ({"Cache-Control": "no-store"} | headers).items()]
        if request.headers.get("origin"):
            lines.append(f"Access-Control-Allow-Origin: {request.headers['origin']}")
            lines.append("Access-Control-Allow-Headers: *")
            lines.append("Access-Control-Allow-Methods: *")
        return "\r\n".join(dict.fromkeys(lines)).encode() + b"\r\n\r\n" + content


async def _read(reader: asyncio.StreamReader) -> Arrived | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await _read_body(reader, headers)
    return Arrived(method, headers.get("host", ""), path, headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


PAGES: dict[str, Answer | Callable[[Arrived], Answer]] = {
    "/": html("<title>Shop</title><input id=field><iframe name=inner></iframe>"),
    "/frame": html("<p>frame</p>"),
    "/free": html("free"),
    "/order": html("ordered"),
    "/worker.js": script("onmessage = e => eval(e.data)"),
    "/shared.js": script("onconnect = e => e.ports[0].onmessage = m => eval(m.data)"),
    "/sw.js": script(
        "onfetch = e => { const to = new URL(e.request.url).searchParams.get('forward');"
        " if (to) e.respondWith(fetch(to, {method: 'POST', body: 'forwarded'})) };"
        " onmessage = e => eval(e.data)"
    ),
    "/upload": html(
        "<form method=post enctype=multipart/form-data action=/order>"
        "<input type=file id=file name=file><input name=kind value=final></form>"
    ),
    **{f"/to/{code}": redirect(f"{code} Moved", "/order") for code in (301, 302, 303, 307, 308)},
}


class RefusedError(Exception):
    """The relay or the browser said no."""


class AgentClient:
    """A CDP client as an agent has one."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.events: list[dict[str, Any]] = []
        self._reading = asyncio.ensure_future(self._read())

    async def __call__(self, method: str, /, *, session: str | None = None, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        future = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps(message))
        reply = await asyncio.wait_for(future, 15)
        if "error" in reply:
            raise RefusedError(reply["error"]["message"])
        result: dict[str, Any] = reply["result"]
        return result

    async def run(self, code: str, *, session: str | None = None) -> Any:
        """Run JavaScript in the page and return what it comes to."""
        result = await self(
            "Runtime.evaluate",
            session=session,
            expression=code,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def go(self, url: str) -> None:
        """Navigate and wait for the load event."""
        await self("Page.enable")
        self.events.clear()
        await self("Page.navigate", url=url)
        await until(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))

    async def close(self) -> None:
        await self._socket.close()
        await self._reading

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for text in self._socket:
                message = json.loads(text)
                if "id" in message:
                    self._waiting.pop(message["id"]).set_result(message)
                else:
                    self.events.append(message)


async def until(
    condition: Callable[[], Any], within_s: float = 25, show: Callable[[], Any] = lambda: "no"
) -> Any:
    """Wait for something that only the outside world can tell."""
    deadline = asyncio.get_running_loop().time() + within_s
    while not (value := condition()):
        assert asyncio.get_running_loop().time() < deadline, f"not within {within_s} s: {show()}"
        await asyncio.sleep(0.02)
    return value


def descendants(pid: int) -> set[int]:
    """Every process below `pid`."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found: set[int] = set()
    frontier = {pid}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if os.path.exists(f"/proc/{pid}") and "Z" not in _state(pid)}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@dataclass
class Opened:
    """A running session and everything around it."""

    config: SessionConfig
    session: BrowserSession
    site: Site
    run: RunDirectory
    log: Path
    ready: SessionEvent
    clients: list[AgentClient] = field(default_factory=list)

    async def http(self, method: str, path: str, **more: Any) -> httpx.Response:
        transport = httpx.AsyncHTTPTransport(uds=str(self.config.relay_socket))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:9222") as client:
            return await client.request(method, path, **more)

    async def connect(self, url: str) -> AgentClient:
        socket = await unix_connect(
            str(self.config.relay_socket), url, max_size=None, compression=None, proxy=None
        )
        self.clients.append(AgentClient(socket))
        return self.clients[-1]

    async def browser_client(self) -> AgentClient:
        return await self.connect((await self.http("GET", "/json/version")).json()["webSocketDebuggerUrl"])

    async def page_client(self, target: str | None = None) -> AgentClient:
        pages = (await self.http("GET", "/json/list")).json()
        wanted = [page for page in pages if target in (None, page["id"])]
        return await self.connect(wanted[0]["webSocketDebuggerUrl"])

    def requests(self) -> list[dict[str, Any]]:
        return list(read_json_lines(self.run.requests))

    def interception(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run.interception.read_text())
        return found

    def browser_pid(self) -> int:
        """Chromium's main process, as the host sees it."""
        for pid in descendants(self.session.pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"--remote-debugging-pipe" in words and words[0].endswith(b"chromium"):
                return pid
        raise AssertionError("no browser process")


@pytest.fixture(name="until")
def until_fixture() -> Any:
    return until


@pytest.fixture
def refused() -> type[Exception]:
    return RefusedError


@pytest.fixture(name="descendants")
def descendants_fixture() -> Any:
    return descendants


@pytest.fixture(name="alive")
def alive_fixture() -> Any:
    return alive


Opener = Callable[..., AbstractAsyncContextManager[Opened]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def hosts() -> tuple[str, ...]:
    """Host names under which the site is reached; on localhost it is a secure context."""
    return ("shop.example", "other.example", "localhost", "xn--mnchen-3ya.example")


@pytest.fixture
def open_session(tmp_path: Path, hosts: tuple[str, ...]) -> Iterator[Opener]:
    """Start a real session with a site; schema and any field of SessionConfig may be given."""
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing or BROWSER is None:
        pytest.skip(f"not installed: {', '.join(missing) or 'Chromium'}")

    @asynccontextmanager
    async def opened(
        schema: dict[str, Any], program: Path = Path(str(BROWSER)), **fields: Any
    ) -> AsyncIterator[Opened]:
        async with AsyncExitStack() as stack:
            site = await stack.enter_async_context(Site(tmp_path / "site.sock", dict(PAGES)))
            run = RunDirectory.create(
                tmp_path / "out", batch="b", suite="s", task="t", harness="h", model="m"
            )
            (tmp_path / "scratch").mkdir(exist_ok=True)
            routes = dict.fromkeys(hosts, site.socket)
            config = SessionConfig(
                run_dir=run.path,
                eval_schema={"url_pattern": "/order", "method": "POST", **schema},
                egress=fields.pop("egress", EgressRules(routes=routes, internet=False)),
                relay_socket=tmp_path / "cdp.sock",
                scratch=tmp_path / "scratch",
                browser=program,
                **fields,
            )
            session = BrowserSession(stderr=tmp_path / "session.log")
            stack.push_async_callback(session.kill)
            ready = await session.start(config)
            one = Opened(config, session, site, run, tmp_path / "session.log", ready)
            try:
                yield one
            finally:
                for client in one.clients:
                    await client.close()

    return opened
