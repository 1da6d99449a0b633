"""WebSockets and EventSources: all that passes is recorded; a matching handshake is refused, a frame seen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosed

from clawbench.environments.browser import EgressRules
from clawbench.results import StopReason, read_json_lines
from tests.environments.browser.conftest import Opened, until
from tests.environments.browser.coverage.pages import PAGES
from tests.environments.browser.coverage.way import FINAL, intercepted

pytestmark = pytest.mark.anyio

OPENED = "await new Promise(done => w.onopen = w.onerror = done)"
ANSWERED = "await new Promise(done => w.onmessage = done)"
HANDSHAKE = {"method": "GET", "params": FINAL}
FINAL_URL = "ws://socket.example/order?kind=final"
FRAME = {"url_pattern": r"socket\.example/chat", "transport": "websocket", "body": FINAL}
MESSAGES = b"data: one\n\nevent: news\ndata: two\n\n"


@dataclass
class Echo:
    """Answers every message with itself."""

    paths: list[str] = field(default_factory=list)
    messages: list[str | bytes] = field(default_factory=list)

    async def __call__(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.paths.append(socket.request.path)
        try:
            async for message in socket:
                self.messages.append(message)
                await socket.send(message)
        except ConnectionClosed:
            pass


SocketOpener = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[tuple[Opened, Echo]]]


@pytest.fixture
def hosts() -> tuple[str, ...]:
    return ("localhost",)


@pytest.fixture
def open_sockets(open_session: Any, tmp_path: Path) -> SocketOpener:
    """A session whose host socket.example speaks WebSocket."""

    @asynccontextmanager
    async def opened(schema: Mapping[str, Any]) -> AsyncIterator[tuple[Opened, Echo]]:
        echo, socket = Echo(), tmp_path / "echo.sock"
        async with unix_serve(echo, str(socket)):
            routes = {"localhost": tmp_path / "site.sock", "socket.example": socket}
            egress = EgressRules(routes=routes, internet=False)
            async with open_session(dict(schema), egress=egress, closing_moment_s=0) as one:
                one.site.pages = {
                    **PAGES,
                    "/events": ("200 OK", {"Content-Type": "text/event-stream"}, MESSAGES),
                }
                yield one, echo

    return opened


async def run(opened: Opened, script: str) -> None:
    agent = await opened.page_client()
    await agent.go("http://localhost/")
    await agent.run(f"(async () => {{ {script} }})().then(() => 0)")


async def test_frames_are_recorded_in_both_directions(open_sockets: SocketOpener) -> None:
    async with open_sockets(HANDSHAKE) as (opened, echo):
        await run(
            opened,
            f"w = new WebSocket('ws://socket.example/chat?kind=x'); {OPENED}; w.send('hello'); {ANSWERED};"
            f"w.send(new Uint8Array([0, 255])); {ANSWERED}; w.send('x'.repeat(20000)); {ANSWERED}",
        )
        await opened.session.stop(StopReason.AGENT_EXITED)
        assert echo.messages == ["hello", b"\x00\xff", "x" * 20000]
        (handshake,) = [one for one in opened.requests() if one["url"].startswith("ws:")]
        assert (handshake["method"], handshake["resource_type"]) == ("GET", "WebSocket")
        assert handshake["headers"]["Upgrade"] == "websocket"
        lines = list(read_json_lines(opened.run.websocket))
        assert {(line["url"], line["id"]) for line in lines} == {(handshake["url"], handshake["id"])}
        both = ("sent", "received")
        assert [(line["direction"], line["opcode"], line["payload"], line["size"]) for line in lines] == [
            *((way, 1, "hello", 5) for way in both),
            *((way, 2, "AP8=", 2) for way in both),
            *((way, 1, "x" * 16384, 20000) for way in both),
        ]
        assert opened.interception()["intercepted"] is False


async def test_messages_of_an_event_source_are_recorded(open_sockets: SocketOpener) -> None:
    async with open_sockets({}) as (opened, _echo):
        await run(
            opened,
            "const s = new EventSource('/events');"
            "await new Promise(done => s.addEventListener('news', done)); s.close()",
        )
        await opened.session.stop(StopReason.AGENT_EXITED)
        found = [
            (line["transport"], line["url"], line["event"], line["payload"])
            for line in read_json_lines(opened.run.websocket)
        ]
        url = "http://localhost/events"
        assert found == [("eventsource", url, "message", "one"), ("eventsource", url, "news", "two")]


WAYS = {
    "page": f"w = new WebSocket('{FINAL_URL}'); {OPENED}",
    "busy page": f"w = new WebSocket('{FINAL_URL}'); const start = Date.now();"
    f"while (Date.now() - start < 1000); {OPENED}",
    "worker": f"new Worker(URL.createObjectURL(new Blob([`new WebSocket('{FINAL_URL}')`])))",
    "frame": "const f = document.createElement('iframe'); document.body.append(f);"
    f"f.contentWindow.eval(`new WebSocket('{FINAL_URL}')`)",
    "stream": f"await new WebSocketStream('{FINAL_URL}').opened.catch(() => 0)",
    "shared worker": f"new SharedWorker(URL.createObjectURL(new Blob([`new WebSocket('{FINAL_URL}')`])))",
    "popup without page": f"open('').eval(`new WebSocket('{FINAL_URL}')`)",
    "host with a dot": f"w = new WebSocket('{FINAL_URL.replace('.example', '.example.')}'); {OPENED}",
    "over a connection made for others": "const others = [...Array(20).keys()].map("
    "n => new WebSocket('ws://socket.example/chat?' + n)); await new Promise(done => setTimeout(done, 15));"
    "others.forEach(one => one.close()); await new Promise(done => setTimeout(done, 200));"
    f"w = new WebSocket('{FINAL_URL}'); {OPENED}",
    "beside others": "for (let n = 0; n < 9; n++) new WebSocket('ws://socket.example/chat?' + n);"
    f"w = new WebSocket('{FINAL_URL}'); {OPENED}",
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_handshake_that_matches_is_refused(open_sockets: SocketOpener, way: str) -> None:
    async with open_sockets(HANDSHAKE) as (opened, echo):
        await run(opened, WAYS[way])
        await intercepted(opened)
        await opened.session.stop(StopReason.INTERCEPTED)
        assert not [path for path in echo.paths if "order" in path]
        found = opened.interception()
        url = found["request"]["url"]
        assert (url.replace(".example.", ".example"), found["request"]["params"]) == (FINAL_URL, FINAL)
        assert [one["method"] for one in opened.requests() if one["url"] == url] == ["GET"]
        assert "blocked" not in found


@pytest.mark.parametrize("api", ["WebSocket", "WebSocketStream"])
async def test_a_frame_that_matches_is_seen_not_blocked(open_sockets: SocketOpener, api: str) -> None:
    frames = ("hello", '{"kind": "draft"}', '42["order", {"kind": "final"}]')
    if api == "WebSocket":
        script = f"w = new WebSocket('ws://socket.example/chat'); {OPENED};"
        script += "".join(f"w.send('{frame}');" for frame in frames) + ANSWERED
    else:
        script = "const {writable} = await new WebSocketStream('ws://socket.example/chat').opened;"
        script += "const w = writable.getWriter();" + "".join(
            f"await w.write('{frame}');" for frame in frames
        )
    async with open_sockets(FRAME) as (opened, echo):
        await run(opened, script)
        await intercepted(opened)
        await until(lambda: len(echo.messages) == len(frames))
        await opened.session.stop(StopReason.INTERCEPTED)
        assert tuple(echo.messages) == frames
        found = opened.interception()
        assert found["blocked"] is False
        assert found["request"]["transport"] == "websocket"
        assert found["request"]["body"] == ["order", FINAL]
