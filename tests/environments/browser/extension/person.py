"""A person's own browser: a Chromium of its own, the extension in it, and a test that plays the person."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.extension import write_extension
from clawbench.environments.browser.pipe import PipeTransport
from tests.environments.browser.api.recorded import TOKEN, Recorded

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--enable-unsafe-extension-debugging", "--no-sandbox"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-quic", "--disable-gpu", "--host-resolver-rules=MAP *.example 127.0.0.1"),
)
WITHIN_S = 30.0
SETTLED = (
    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"
)


class Site(ThreadingHTTPServer):
    """Serves `pages` (path -> HTML) under any host name; remembers what reached it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, str] = {}
        self.arrived: list[tuple[str, str, bytes]] = []
        self.port: int = self.server_address[1]

    def url(self, path: str, host: str = "shop.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def got(self, method: str, path: str) -> list[bytes]:
        return [body for verb, where, body in self.arrived if (verb, where.split("?")[0]) == (method, path)]


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.arrived.append((self.command, self.path, body))
        path = self.path.split("?")[0]
        redirected = path == "/redirect"
        page = self.server.pages.get(path, "<p>empty</p>").encode()
        self.send_response(307 if redirected else 200)
        if redirected:
            self.send_header("Location", "/order")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Site]:
    server = Site()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Person:
    """Somebody with a browser: opens pages, clicks and types."""

    def __init__(self, cdp: CdpConnection, extension: str) -> None:
        self.cdp, self.extension = cdp, extension
        self.tab = self.pairing_tab = ""

    async def open(self, url: str, *, new_tab: bool = False) -> None:
        if new_tab or not self.tab:
            target = (await self.cdp.send("Target.createTarget", {"url": "about:blank"}))["targetId"]
            attached = await self.cdp.send("Target.attachToTarget", {"targetId": target, "flatten": True})
            self.tab = attached["sessionId"]
            await self.cdp.send("Page.enable", {}, self.tab)
        loaded = asyncio.get_running_loop().create_future()
        session = self.tab
        remove = self.cdp.on(
            "Page.loadEventFired",
            lambda _, origin: None if origin != session or loaded.done() else loaded.set_result(None),
        )
        await self.cdp.send("Page.navigate", {"url": url}, self.tab)
        await asyncio.wait_for(loaded, 15)
        remove()
        await self.evaluate(SETTLED)

    async def pair(self, recorded: Recorded) -> None:
        """Open the pairing address and wait until the recording has begun."""
        await self.open(recorded.api.pairing_url, new_tab=True)
        await asyncio.wait_for(recorded.recording.armed(), 15)
        await self.shows("#state", "Recording s/t")
        assert TOKEN not in await self.evaluate("location.href")
        self.pairing_tab = self.tab

    async def open_popup(self) -> None:
        await self.open(f"chrome-extension://{self.extension}/popup.html", new_tab=True)

    async def text(self, selector: str, tab: str = "") -> str:
        return str(await self.evaluate(f"document.querySelector({selector!r}).textContent", tab))

    async def shows(self, selector: str, text: str, tab: str = "") -> None:
        deadline = time.monotonic() + WITHIN_S
        while text not in (shown := await self.text(selector, tab)):
            assert time.monotonic() < deadline, shown
            await asyncio.sleep(0.02)

    async def evaluate(self, expression: str, session: str = "") -> Any:
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = await self.cdp.send("Runtime.evaluate", params, session or self.tab)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def click(self, selector: str) -> None:
        place = f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({selector!r})"
        await self.click_at(*await self.evaluate(f"{place}.getBoundingClientRect())"))

    async def click_at(self, x: float, y: float) -> None:
        mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            await self.cdp.send("Input.dispatchMouseEvent", {"type": kind, **mouse}, self.tab)

    async def type(self, text: str) -> None:
        for character in text:
            key = {"key": character, "text": character, "code": f"Key{character.upper()}"}
            for kind in ("keyDown", "keyUp"):
                await self.cdp.send("Input.dispatchKeyEvent", {"type": kind, **key}, self.tab)

    async def restart_extension(self) -> None:
        """End the extension's process, as Chrome does at will."""
        await self.cdp.send("Target.closeTarget", {"targetId": await self._target(is_worker)})

    async def in_extension(self, expression: str) -> Any:
        """Run JavaScript in the extension's own process."""
        target = await self._target(is_worker)
        attached = await self.cdp.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        worker = attached["sessionId"]
        try:
            for _ in range(200):
                if await self.evaluate("typeof chrome", worker) != "undefined":
                    return await self.evaluate(expression, worker)
                await asyncio.sleep(0.02)  # it has only just been started
            raise AssertionError("the extension did not start")
        finally:
            await self.cdp.send("Target.detachFromTarget", {"sessionId": worker})

    async def _target(self, wanted: Callable[[dict[str, Any]], bool]) -> str:
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            for info in (await self.cdp.send("Target.getTargets"))["targetInfos"]:
                if self.extension in info["url"] and wanted(info):
                    return str(info["targetId"])
            await asyncio.sleep(0.02)
        raise AssertionError("the extension does not run")


def is_worker(info: dict[str, Any]) -> bool:
    return bool(info["type"] == "service_worker")


async def until(condition: Callable[[], Any], within_s: float = WITHIN_S) -> Any:
    """Wait for what another process does and tells nobody."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)
    return value


@contextmanager
def running_chromium(profile: Path, *flags: str) -> Iterator[CdpConnection]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser_read, our_write = os.pipe()
    our_read, browser_write = os.pipe()
    wiring = f'exec "$@" 3<&{browser_read} 4>&{browser_write}'
    process = subprocess.Popen(
        ["bash", "-c", wiring, "bash", CHROMIUM, *FLAGS, *flags, f"--user-data-dir={profile}"],
        pass_fds=[browser_read, browser_write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(browser_read)
    os.close(browser_write)
    cdp = CdpConnection(PipeTransport(our_read, our_write))
    try:
        yield cdp
    finally:
        cdp.close()
        process.wait(20)


@asynccontextmanager
async def somebody(directory: Path) -> AsyncIterator[Person]:
    """A person whose browser has the extension."""
    extension = write_extension(directory / "extension")
    with running_chromium(directory / "profile") as cdp:
        loaded = await cdp.send("Extensions.loadUnpacked", {"path": str(extension)})
        yield Person(cdp, loaded["id"])
