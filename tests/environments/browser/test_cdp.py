"""The CDP pipe, against a counterpart that speaks NUL-terminated JSON over real pipes."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from typing import Any

import pytest

from clawbench.environments.browser.cdp import CdpConnection, CdpError, decode, encode
from clawbench.environments.browser.pipe import PipeTransport

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Counterpart:
    """The browser's end of the pipe, in a thread so that neither side can wait for the other's loop."""

    def __init__(self) -> None:
        self.read_fd, self.client_write = os.pipe()
        self.client_read, self.write_fd = os.pipe()
        self.received: list[dict[str, Any]] = []

    def say(self, *messages: dict[str, Any]) -> None:
        data = b"".join(json.dumps(message).encode() + b"\0" for message in messages)
        view = memoryview(data)
        while view:
            view = view[os.write(self.write_fd, view) :]

    def serve(self, answer: Any) -> threading.Thread:
        def loop() -> None:
            with os.fdopen(self.read_fd, "rb") as file:
                buffer = b""
                while chunk := file.read1(1 << 20):
                    *whole, buffer = (buffer + chunk).split(b"\0")
                    for raw in whole:
                        self.received.append(json.loads(raw))
                        self.say(*answer(self.received[-1]))
            os.close(self.write_fd)

        thread = threading.Thread(target=loop)
        thread.start()
        return thread


async def test_results_and_refusals_reach_the_caller() -> None:
    peer = Counterpart()
    thread = peer.serve(
        lambda m: [
            {"id": m["id"], "result": {"echo": m["params"], "session": m.get("sessionId")}}
            if m["method"] == "Echo.it"
            else {"id": m["id"], "error": {"code": -32601, "message": "no such method"}}
        ]
    )
    cdp = CdpConnection(PipeTransport(peer.client_read, peer.client_write))
    assert await cdp.send("Echo.it", {"a": 1}, session="S") == {"echo": {"a": 1}, "session": "S"}
    with pytest.raises(CdpError, match=r"Nope\.it: no such method") as caught:
        await cdp.send("Nope.it", {})
    assert caught.value.code == -32601
    cdp.close()
    thread.join()


async def test_events_keep_their_order_around_replies() -> None:
    peer = Counterpart()
    thread = peer.serve(
        lambda m: [
            {"method": "A.one", "params": {"n": 1}},
            {"method": "B.two", "params": {"n": 2}, "sessionId": "S"},
            {"id": m["id"], "result": {}},
            {"method": "A.one", "params": {"n": 3}},
        ]
    )
    cdp = CdpConnection(PipeTransport(peer.client_read, peer.client_write))
    seen: list[Any] = []
    cdp.on("A.one", lambda params, session: seen.append((params["n"], session)))
    remove = cdp.on("B.two", lambda params, session: seen.append((params["n"], session)))
    cdp.on_any(lambda message: seen.append(message["method"]))
    await cdp.send("Go.go")
    remove()
    await cdp.send("Go.go")
    cdp.close()
    thread.join()
    first = [(1, None), "A.one", (2, "S"), "B.two", (3, None), "A.one"]
    second = [(1, None), "A.one", "B.two"]
    assert seen[: len(first) + len(second)] == first + second


async def test_a_handler_that_raises_does_not_stop_the_others() -> None:
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
    peer = Counterpart()
    thread = peer.serve(lambda m: [{"method": "A.one"}, {"id": m["id"], "result": {}}])
    cdp = CdpConnection(PipeTransport(peer.client_read, peer.client_write))
    seen: list[Any] = []
    cdp.on("A.one", lambda params, session: 1 / 0)
    cdp.on("A.one", lambda params, session: seen.append(params))
    await cdp.send("Go.go")
    cdp.close()
    thread.join()
    assert seen == [{}]
    assert isinstance(reported[0]["exception"], ZeroDivisionError)


async def test_fifty_megabytes_each_way_take_linear_time() -> None:
    peer = Counterpart()
    body = "x" * 50_000_000
    thread = peer.serve(lambda m: [{"id": m["id"], "result": {"body": m["params"]["body"]}}])
    cdp = CdpConnection(PipeTransport(peer.client_read, peer.client_write))
    started = time.monotonic()
    result = await cdp.send("Big.one", {"body": body})
    assert result["body"] == body
    assert time.monotonic() - started < 10
    cdp.close()
    thread.join()


async def test_the_end_of_the_pipe_fails_what_waits_and_is_told_at_once() -> None:
    peer = Counterpart()
    cdp = CdpConnection(PipeTransport(peer.client_read, peer.client_write))
    order: list[str] = []
    cdp.on_close(lambda: order.append("closed"))
    waiting = cdp.call("Never.answered")
    os.close(peer.write_fd)
    with pytest.raises(CdpError, match="has ended"):
        await waiting
    assert order == ["closed"]
    assert cdp.closed.is_set()
    with pytest.raises(CdpError, match="has ended"):
        await cdp.send("Too.late")
    os.close(peer.read_fd)


async def test_silence_is_an_error_after_the_timeout() -> None:
    peer = Counterpart()
    cdp = CdpConnection(PipeTransport(peer.client_read, peer.client_write))
    with pytest.raises(CdpError, match=r"no answer within 0\.05 s"):
        await cdp.send("Slow.one", timeout=0.05)
    cdp.close()
    os.close(peer.read_fd)
    os.close(peer.write_fd)


@pytest.mark.parametrize(
    "value",
    [
        "half a pair \ud83d",
        "a whole one \U0001f99e",
        "\x00 \x7f \u2028",
        1 << 80,
        0.1,
        1763309200.1234567,
        None,
    ],
)
async def test_a_message_comes_back_as_it_went(value: Any) -> None:
    message = {"id": 1, "params": {"list": [value], "text": "é"}}
    assert decode(encode(message)) == message
    assert b"\0" not in encode(message), "it ends a message on the pipe"


async def test_a_message_may_be_deeply_nested() -> None:
    value: Any = "in the middle"
    for _ in range(300):
        value = {"child": [value]}
    assert decode(encode({"id": 1, "params": value})) == {"id": 1, "params": value}


@pytest.mark.parametrize("raw", [b"", b"{", b'{"id":1}{"id":2}', b'{"id":"\xff"}'])
async def test_what_is_no_message_is_refused(raw: bytes) -> None:
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        decode(raw)
