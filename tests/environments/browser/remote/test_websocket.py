"""CDP over a WebSocket, against a counterpart that speaks it over a real connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from clawbench.environments.browser.cdp import CdpConnection, CdpError
from clawbench.environments.browser.remote.websocket import WebSocketTransport

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def counterpart(
    answer: Callable[[ServerConnection, dict[str, Any]], Any],
) -> AsyncIterator[CdpConnection]:
    async def handle(connection: ServerConnection) -> None:
        async for text in connection:
            await answer(connection, json.loads(text))

    async with serve(handle, "127.0.0.1", 0, max_size=None, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        cdp = CdpConnection(await WebSocketTransport.open(f"ws://127.0.0.1:{port}/", direct=True))
        try:
            yield cdp
        finally:
            cdp.close()


async def test_commands_replies_and_events_in_order() -> None:
    async def answer(connection: ServerConnection, message: dict[str, Any]) -> None:
        for number in range(3):
            await connection.send(json.dumps({"method": "Some.event", "params": {"n": number}}))
        await connection.send(json.dumps({"id": message["id"], "result": message["params"]}))

    seen: list[int] = []
    async with counterpart(answer) as cdp:
        cdp.on("Some.event", lambda params, _session: seen.append(params["n"]))
        replies = await asyncio.gather(*(cdp.send("A.b", {"i": i, "text": "é🙂"}) for i in range(20)))
    assert [reply["i"] for reply in replies] == list(range(20))
    assert {reply["text"] for reply in replies} == {"é🙂"}
    assert seen == [0, 1, 2] * 20


async def test_messages_of_many_frames_and_of_many_megabytes() -> None:
    body = "x" * (20 << 20)

    async def answer(connection: ServerConnection, message: dict[str, Any]) -> None:
        whole = json.dumps({"id": message["id"], "result": {"body": message["params"]["body"]}})
        third = len(whole) // 3
        await connection.send([whole[:third], whole[third : 2 * third], whole[2 * third :]])

    async with counterpart(answer) as cdp:
        started = time.monotonic()
        reply = await cdp.send("A.b", {"body": body})
        took = time.monotonic() - started
    assert reply["body"] == body
    assert took < 10, "twice 20 MB through a slow client would stall every page"


async def test_the_end_is_told_at_once_and_ends_every_call() -> None:
    async def answer(connection: ServerConnection, _message: dict[str, Any]) -> None:
        connection.transport.abort()

    async with counterpart(answer) as cdp:
        ended = asyncio.Event()
        cdp.on_close(ended.set)
        with pytest.raises(CdpError, match="has ended"):
            await cdp.send("A.b")
        assert ended.is_set()
        assert cdp.closed.is_set()
        with pytest.raises(CdpError, match="has ended"):
            await cdp.send("A.b")


async def test_closing_says_goodbye_and_is_no_loss() -> None:
    left: list[int | None] = []

    async def handle(connection: ServerConnection) -> None:
        await connection.wait_closed()
        left.append(connection.close_code)

    async with serve(handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        cdp = CdpConnection(await WebSocketTransport.open(f"ws://127.0.0.1:{port}/", direct=True))
        cdp.close()
        cdp.close()
    assert left == [1000]
