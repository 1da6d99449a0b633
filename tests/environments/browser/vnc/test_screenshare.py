"""What the session itself lets a viewer do, whatever their client sends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from clawbench.results import StopReason, read_json_lines
from tests.environments.browser.vnc.rfb import CONTROL, RfbClient

pytestmark = pytest.mark.anyio

FIELD = ("200 OK", {"Content-Type": "text/html"}, b"<!doctype html><input id=field autofocus size=80>")


async def enter(url: str) -> Callable[[], connect]:
    """Opens the screen's WebSocket as any program could that was the first to have the address."""
    base = f"http://{urlsplit(url).netloc}"
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as client:
        await client.get(url)
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    return lambda: connect(
        f"{base.replace('http', 'ws')}/screen",
        origin=Origin(base),
        additional_headers={"Cookie": cookie},
        proxy=None,
    )


def programs(pids: set[int]) -> list[str]:
    found = []
    for pid in pids:
        try:
            found.append(Path(f"/proc/{pid}/comm").read_text().strip())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("mode", ["watch", "control"])
async def test_keys_and_clicks_count_only_where_somebody_may_drive(
    mode: str, open_scene: Any, until: Any, descendants: Any, alive: Any
) -> None:
    async with open_scene(mode, {"/field": FIELD}) as scene:
        agent = await scene.session.page_client()
        await agent.go("http://shop.example/field")
        session = scene.session.session
        assert "x11vnc" not in programs(descendants(session.pid)), "nothing runs before somebody looks"

        look = await enter(scene.view.url)
        async with look() as socket:
            viewer = RfbClient(socket)
            assert await viewer.greet() == (1920, 1080)
            everything = descendants(session.pid)
            assert programs(everything).count("x11vnc") == 1
            x, y = await scene.recorded.where("#field")
            await viewer.click(x, y)
            await viewer.type("typed by hand")
            await viewer.cut("cut text")
            await viewer.answer()
            if mode == "control":
                await scene.recorded.until_value("#field", "typed by hand")
            else:
                # A second round trip after everything above was read, and the browser has taken it all in.
                await viewer.answer()
                await agent.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 300)))")
                assert await scene.recorded.run("document.querySelector('#field').value") == ""
        kinds = {line["type"] for line in read_json_lines(scene.session.run.actions)} - {"pageLoad"}
        assert kinds == ({"click", "keydown", "keyup", "input"} if mode == "control" else set())

        await session.stop(StopReason.CANCELLED)
        await until(lambda: not alive(everything))


async def test_whoever_comes_back_finds_no_key_held_down(open_scene: Any, until: Any) -> None:
    async with open_scene("control", {"/field": FIELD}) as scene:
        agent = await scene.session.page_client()
        await agent.go("http://shop.example/field")
        look = await enter(scene.view.url)
        async with look() as socket:
            viewer = RfbClient(socket)
            await viewer.greet()
            await viewer.click(*await scene.recorded.where("#field"))
            await viewer.key(CONTROL, up=False)
            await agent.run("onkeydown = event => { window.control = event.ctrlKey }")
            await viewer.type("b")
            await scene.recorded.until("window.control")
            socket.transport.abort()
        await until(lambda: not scene.view.presence.here)
        async with look() as socket:
            viewer = RfbClient(socket)
            await viewer.greet()
            await viewer.type("a")
            await scene.recorded.until_value("#field", "a")
            assert await scene.recorded.run("window.control") is False
