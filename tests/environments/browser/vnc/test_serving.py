"""The web side of a view, asked as browsers and others would ask it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from clawbench.environments.browser.vnc.server import address, listen
from clawbench.errors import InputError
from clawbench.results import StopReason, Verdict

pytestmark = pytest.mark.anyio

PATHS = ("/", "/view.js", "/task", "/events", "/files/profile.json", "/novnc/core/rfb.js", "/nowhere")


def base(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@asynccontextmanager
async def browser(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=base(url), follow_redirects=True, trust_env=False) as client:
        yield client


def cookie_header(client: httpx.AsyncClient) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}


async def test_without_the_token_there_is_nothing(open_view: Any) -> None:
    async with open_view() as view, browser(view.url) as client:
        for path in (*PATHS, "/?token=", "/?token=wrong"):
            answer = await client.get(path)
            assert answer.status_code == 403, path
            assert "tea" not in answer.text
        assert not client.cookies


async def test_the_address_works_in_one_browser(open_view: Any) -> None:
    async with open_view() as view, browser(view.url) as first, browser(view.url) as second:
        assert (await first.head(view.url)).status_code == 503
        assert (await first.get(view.url, headers={"Sec-Purpose": "prefetch"})).status_code == 503
        entered = await first.get(view.url)
        assert entered.status_code == 200
        assert "token" not in str(entered.url)
        assert (await second.get(view.url)).status_code == 403
        assert (await second.get("/task")).status_code == 403
        assert (await first.get(view.url)).status_code == 200, "the same browser may open it again"
        (cookie,) = first.cookies.jar
        assert cookie.has_nonstandard_attr("HttpOnly")


async def test_a_view_serves_its_task_and_nothing_else_of_the_machine(open_view: Any) -> None:
    async with open_view() as view, browser(view.url) as client:
        page = await client.get(view.url)
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"
        task = (await client.get("/task")).json()
        assert task["instruction"] == "Buy <b>tea</b>."
        assert task["files"][0]["data"]["name"] == {"full": "Alex Green"}
        assert (await client.get("/files/profile.json")).json()["phone"] == "+1 217 555 0148"
        assert (await client.get("/novnc/core/rfb.js")).status_code == 200
        for path in ("/files/..%2f..%2fetc%2fpasswd", "/files/vnc.sock", "/novnc/core/../vnc.html"):
            assert (await client.get(path)).status_code == 404


async def test_the_screen_is_refused_to_other_pages_and_other_browsers(
    open_view: Any, tmp_path: Path
) -> None:
    async with open_view() as view, browser(view.url) as client:
        await client.get(view.url)
        screen = base(view.url).replace("http", "ws") + "/screen"
        own = base(view.url)
        for origin, headers in [
            ("http://127.0.0.1:1", cookie_header(client)),
            ("http://evil.example", cookie_header(client)),
            (None, cookie_header(client)),
            (own, {}),
        ]:
            with pytest.raises(InvalidStatus) as refused:
                await connect(screen, origin=origin, additional_headers=headers, proxy=None)  # type: ignore[arg-type]
            assert refused.value.response.status_code == 403
            assert not view.presence.here


async def test_only_own_pages_may_move_windows(open_view: Any) -> None:
    async with open_view() as view, browser(view.url) as client:
        await client.get(view.url)
        assert (await client.post("/windows/x/raise")).status_code == 403
        foreign = {"Origin": "http://evil.example"}
        assert (await client.post("/windows/x/raise", headers=foreign)).status_code == 403
        own = {"Origin": base(view.url)}
        assert (await client.post("/windows/x/raise", headers=own)).status_code == 204
        assert (await client.post("/windows/x/explode", headers=own)).status_code == 404
    async with open_view("watch") as view, browser(view.url) as client:
        await client.get(view.url)
        answer = await client.post("/windows/x/close", headers={"Origin": base(view.url)})
        assert answer.status_code == 404


async def test_bytes_pass_both_ways_and_the_newest_connection_has_the_screen(
    open_view: Any, tmp_path: Path
) -> None:
    writers: list[asyncio.StreamWriter] = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for old in writers:
            old.close()
        writers.append(writer)
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    server = await asyncio.start_unix_server(echo, str(tmp_path / "vnc.sock"))
    async with server, open_view() as view, browser(view.url) as client:
        await client.get(view.url)
        same: Any = {"origin": base(view.url), "additional_headers": cookie_header(client), "proxy": None}
        screen = base(view.url).replace("http", "ws") + "/screen"
        async with connect(screen, **same) as first:
            await first.send(b"x" * 300_000)
            received = b""
            while len(received) < 300_000:
                part = await first.recv()
                assert isinstance(part, bytes)
                received += part
            assert received == b"x" * 300_000
            assert view.presence.here
            async with connect(screen, **same) as second:
                with pytest.raises(ConnectionClosed) as ended:
                    await first.recv()
                assert ended.value.rcvd is not None
                assert ended.value.rcvd.code == 4001
                await second.send(b"still here")
                assert await second.recv() == b"still here"
        await asyncio.wait_for(view.presence.left(0), 5)


async def test_the_page_is_told_to_the_end(open_view: Any) -> None:
    async with browser("http://x") as client:
        async with open_view() as view:
            client.base_url = httpx.URL(base(view.url))
            await client.get(view.url)
            async with client.stream("GET", "/events") as events:
                lines = events.aiter_lines()
                assert '"phase": "preparing"' in await anext(lines)
                view.begin(60)
                view.count(3, 4)
                view.stop(StopReason.INTERCEPTED)
                view.settle(StopReason.INTERCEPTED, Verdict.PASS)
                rest = [line async for line in lines if line]
        assert '"phase": "done"' in rest[-1]
        assert "Recorded: request intercepted" in rest[-1]
        assert "Verdict: pass" in rest[-1]
        assert '"actions": 3, "requests": 4' in rest[-1]


async def test_a_run_that_breaks_says_so_before_the_view_closes(open_view: Any) -> None:
    async with browser("http://x") as client:
        async with open_view() as view:
            client.base_url = httpx.URL(base(view.url))
            await client.get(view.url)
            reading = asyncio.create_task(client.get("/events"))
            await asyncio.sleep(0.1)
        assert "The run broke" in (await reading).text


def test_a_taken_port_moves_to_a_free_one() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listen("127.0.0.1", port) as second:
            assert second.getsockname()[0] == "127.0.0.1"
            assert second.getsockname()[1] not in (0, port)


def test_addresses_are_printed_as_a_browser_needs_them() -> None:
    with listen("127.0.0.1", 0) as here:
        assert address(here) == f"http://127.0.0.1:{here.getsockname()[1]}"
    with listen("0.0.0.0", 0) as everywhere:
        assert address(everywhere) == f"http://{socket.gethostname()}:{everywhere.getsockname()[1]}"
    with listen("::1", 0) as six:
        assert address(six) == f"http://[::1]:{six.getsockname()[1]}"


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InputError, match=r"192\.0\.2\.1 cannot be listened on"):
        listen("192.0.2.1", 6080)
