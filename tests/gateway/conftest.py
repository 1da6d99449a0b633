"""A real gateway on a unix socket, and in front of it a real HTTP server that plays a model's API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from clawbench.gateway import Gateway, Policy
from clawbench.gateway.doors import Door, find_door
from clawbench.gateway.scripted import ScriptedUpstream
from clawbench.gateway.server import _Server
from clawbench.gateway.upstream import Outgoing, UnreachableError
from clawbench.gateway.wire import Wire, read_body
from clawbench.models import ApiType, Model
from clawbench.results import Price, RunDirectory

KEY = "sk-planted-7f3a9c2e51d84b06"


@dataclass
class Received:
    """One request as the API saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class FakeApi:
    """Writes exactly the bytes it is told to, for each request the next of `script` (the last stays)."""

    script: list[Handler] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    connections: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.received.append(await self._read(head.decode("latin-1"), reader))
                self.arrived.set()
                handler = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                answering = asyncio.ensure_future(handler(writer))
                closing = (
                    asyncio.ensure_future(reader.read(1)) if handler.__name__ == "until_hung_up" else None
                )
                if closing is not None:
                    await asyncio.wait({answering, closing}, return_when=asyncio.FIRST_COMPLETED)
                    if closing.done():
                        self.hung_up.set()
                    answering.cancel()
                    closing.cancel()
                    break
                await answering
                if writer.is_closing():
                    break
        self.connections.discard(writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    @staticmethod
    async def _read(head: str, reader: asyncio.StreamReader) -> Received:
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Received(first.split(" ")[1], headers, json.loads(body or b"{}"))


def plain(status: int, body: bytes, *headers: str) -> Handler:
    """An answer with a content-length."""

    async def write(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}", *headers]
        if not any(line.lower().startswith("content-type") for line in headers):
            lines.append("content-type: application/json")
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()

    return write


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def streamed(*pieces: bytes) -> Handler:
    """A chunked event stream, each piece written on its own."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for piece in pieces:
            writer.write(http_chunk(piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    return write


def cut_after(*pieces: bytes) -> Handler:
    """A stream that breaks off without its end."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + b"".join(http_chunk(piece) for piece in pieces))
        await writer.drain()
        writer.close()

    return write


def endless(*pieces: bytes) -> Handler:
    """A stream that stays open until the other side hangs up."""

    async def until_hung_up(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + b"".join(http_chunk(piece) for piece in pieces))
        await writer.drain()
        await asyncio.Event().wait()

    return until_hung_up


def silent() -> Handler:
    """No answer at all until the other side hangs up."""

    async def until_hung_up(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return until_hung_up


def event(payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def completion(text: str = "Hello", usage: dict[str, Any] | None = None) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = usage or {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return json.dumps({"id": "x", "model": "up", "choices": [choice], "usage": usage}).encode()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    fake = FakeApi(script=[plain(200, completion())])
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    yield fake
    server.close()
    for writer in list(fake.connections):
        writer.close()
    await server.wait_closed()


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with Gateway(tmp_path / "gateway.sock") as running:
        yield running


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[[], RunDirectory]:
    def create() -> RunDirectory:
        return RunDirectory.create(tmp_path / "out", batch="b", suite="s", task="t", harness="h", model="m")

    return create


def model_at(api: FakeApi, **settings: Any) -> Model:
    fields: dict[str, Any] = {
        "name": "test-model",
        "model": "upstream-name",
        "base_url": api.url,
        "api_type": ApiType.OPENAI_COMPLETIONS,
        "api_keys": (KEY,),
        "price": Price(input=2.0, output=10.0, cached_input=0.5),
    }
    return Model(**{**fields, **settings})


def client_of(gateway: Gateway, token: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.AsyncHTTPTransport(uds=str(gateway.socket_path)),
        base_url="http://gateway/v1",
        headers={"authorization": f"Bearer {token}"},
    )


def ask(text: str = "Hi", **more: Any) -> dict[str, Any]:
    return {"model": "any", "messages": [{"role": "user", "content": text}], **more}


@contextlib.asynccontextmanager
async def serve_directly(policy: Policy, api_type: ApiType) -> AsyncIterator[int]:
    """The scripted model as an HTTP API of its own, without any gateway; gives its port."""
    upstream = ScriptedUpstream(policy, "run", api_type, clock=lambda: 1_700_000_000.0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        door = find_door(scope["method"], scope["path"])
        assert isinstance(door, Door)
        body = json.loads(await read_body(scope, receive))
        query = scope["query_string"].decode()
        reply = await upstream.send(Outgoing(door.path, body, query=query, operation=door.operation))
        wire = Wire(send, door.dialect)
        await wire.start(reply.status, reply.headers)
        try:
            async for chunk in reply.body():
                await wire.chunk(chunk)
        except UnreachableError:
            return
        await wire.end()

    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none")
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    await server.ready.wait()
    yield listener.getsockname()[1]
    server.should_exit = True
    await serving


@pytest.fixture
def kit() -> Kit:
    return Kit()


class Kit:
    """What the tests of this directory share, without importing each other."""

    KEY = KEY
    plain = staticmethod(plain)
    streamed = staticmethod(streamed)
    cut_after = staticmethod(cut_after)
    endless = staticmethod(endless)
    silent = staticmethod(silent)
    event = staticmethod(event)
    completion = staticmethod(completion)
    model_at = staticmethod(model_at)
    client_of = staticmethod(client_of)
    ask = staticmethod(ask)
    serve_directly = staticmethod(serve_directly)
