"""A stage for the recorder: a real display, a real Chromium over its pipe, a server with made-up hosts."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.pipe import PipeTransport
from clawbench.environments.browser.recorder import Recorder
from clawbench.environments.browser.screen import Screen
from clawbench.results import RunDirectory, read_json_lines

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    *("--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-popup-blocking", "--allow-pre-commit-input"),
    *("--window-position=0,0", "--window-size=1920,1080", "--host-resolver-rules=MAP *.example 127.0.0.1"),
)


NEXT_FRAME = (
    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def running_display(scratch: Path) -> Iterator[tuple[str, Path]]:
    """Xvfb with its frame buffer in a file: the display's name and the directory of that file."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    scratch.mkdir(parents=True, exist_ok=True)
    read_fd, write_fd = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1920x1080x24", "-fbdir", str(scratch)]
    process = subprocess.Popen(
        [*command, "-nolisten", "tcp", "-noreset"], pass_fds=[write_fd], stderr=subprocess.DEVNULL
    )
    os.close(write_fd)
    try:
        with os.fdopen(read_fd) as ready:
            yield f":{ready.readline().strip()}", scratch
    finally:
        process.terminate()
        process.wait()


class Site(ThreadingHTTPServer):
    """Serves `pages` (path -> HTML) under any host name; keeps what was posted."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, str] = {}
        self.received: list[tuple[str, str, bytes]] = []
        self.port: int = self.server_address[1]

    def url(self, path: str, host: str = "a.example") -> str:
        return f"http://{host}:{self.port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.server.received.append((self.command, self.path, b""))
        if path.startswith("/redirect"):
            self.send_response(302)
            self.send_header("Location", "/landed")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if path == "/missing":
            self.send_error(404)
            return
        kind = "text/javascript" if path.endswith(".js") else "text/html; charset=utf-8"
        self._answer(self.server.pages.get(path, "<p>empty</p>").encode(), kind)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.received.append((self.command, self.path, body))
        self._answer(b"ok", "text/plain")

    do_PUT = do_POST

    def do_OPTIONS(self) -> None:
        self._answer(b"", "text/plain")

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Access-Control-Allow-Origin", "*"),
            ("Access-Control-Allow-Headers", "*"),
            ("Access-Control-Allow-Methods", "*"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Stage:
    """The browser under recording, and an agent's own CDP session in it."""

    def __init__(self, cdp: CdpConnection, run: RunDirectory, site: Site, screen: Screen) -> None:
        self.cdp, self.run, self.site, self.screen = cdp, run, site, screen
        self.recorder: Recorder
        self.session = ""

    async def attach(self) -> None:
        """Drive the first page, as an agent would: with a session of its own."""
        targets = (await self.cdp.send("Target.getTargets"))["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = await self.session_of(page["targetId"])

    async def session_of(self, target_id: str) -> str:
        attached = await self.cdp.send("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        return str(attached["sessionId"])

    async def send(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> Any:
        return await self.cdp.send(method, params or {}, session or self.session)

    async def evaluate(self, expression: str, session: str = "") -> Any:
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = await self.send("Runtime.evaluate", params, session)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def open(self, path: str, host: str = "a.example") -> None:
        url = self.site.url(path, host)
        before = self.loads(url)
        await self.send("Page.navigate", {"url": url})
        await self.until(lambda: self.loads(url) > before)
        for target in (await self.cdp.send("Target.getTargets"))["targetInfos"]:
            if target["type"] == "iframe":
                await self.shown(await self.session_of(target["targetId"]))
        await self.shown()

    def loads(self, url: str) -> int:
        return sum(action["url"] == url for action in self.actions("pageLoad"))

    async def shown(self, session: str = "") -> None:
        """Wait until the page is on the screen: clicks sent before that reach nobody."""
        await self.evaluate(NEXT_FRAME, session)

    async def centre(self, expression: str, session: str = "") -> tuple[float, float]:
        script = f"(r => [r.x + r.width / 2, r.y + r.height / 2])(({expression}).getBoundingClientRect())"
        x, y = await self.evaluate(script, session)
        return x, y

    async def click_at(self, x: float, y: float, session: str = "") -> None:
        mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
        await self.send("Input.dispatchMouseEvent", {"type": "mousePressed", **mouse}, session)
        await self.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **mouse}, session)

    async def click(self, selector: str, session: str = "") -> None:
        await self.click_at(*await self.centre(f"document.querySelector({selector!r})", session), session)

    async def type(self, text: str, session: str = "") -> None:
        for character in text:
            key = {"key": character, "text": character, "code": f"Key{character.upper()}"}
            await self.send("Input.dispatchKeyEvent", {"type": "keyDown", **key}, session)
            await self.send("Input.dispatchKeyEvent", {"type": "keyUp", **key}, session)

    def actions(self, *types: str) -> list[dict[str, Any]]:
        return [a for a in read_json_lines(self.run.actions) if not types or a["type"] in types]

    def requests(self, fragment: str = "") -> list[dict[str, Any]]:
        return [r for r in read_json_lines(self.run.requests) if fragment in r["url"]]

    async def until(self, condition: Callable[[], Any], timeout: float = 10.0) -> None:
        """Wait for what another process does and tells nobody."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            await asyncio.sleep(0.01)


@contextmanager
def running_chromium(display: str, profile: Path) -> Iterator[CdpConnection]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser_read, our_write = os.pipe()
    our_read, browser_write = os.pipe()
    wiring = f'exec "$@" 3<&{browser_read} 4>&{browser_write}'
    process = subprocess.Popen(
        ["bash", "-c", wiring, "bash", CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=[browser_read, browser_write],
        env={**os.environ, "DISPLAY": display},
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
async def set_stage(
    scratch: Path, *, record_passwords: bool = False, intercept: bool = False
) -> AsyncIterator[Stage]:
    run = RunDirectory.create(scratch / "out", batch="b", suite="s", task="t", harness="h", model="m")
    site = Site()
    threading.Thread(target=site.serve_forever, daemon=True).start()
    async with AsyncExitStack() as stack:
        stack.callback(site.server_close)
        stack.callback(site.shutdown)
        display, fbdir = stack.enter_context(running_display(scratch / "fb"))
        screen = Screen(fbdir)
        stack.callback(screen.close)
        cdp = stack.enter_context(running_chromium(display, scratch / "profile"))
        stage = Stage(cdp, run, site, screen)
        if intercept:
            await pass_all_requests(stage)
        stage.recorder = Recorder(
            cdp, run, screen, record_passwords=record_passwords, on_progress=lambda actions, requests: None
        )
        await stage.recorder.start()
        stack.push_async_callback(stage.recorder.close)
        await stage.attach()
        yield stage


async def pass_all_requests(stage: Stage) -> None:
    """An interceptor that shows every request to the recorder and lets it go, but for `/blocked`."""

    def paused(params: dict[str, Any], session: str | None) -> None:
        stage.recorder.on_paused(params)
        if params["request"]["url"].endswith("/blocked"):
            stage.recorder.on_blocked()
            blocked = {"requestId": params["requestId"], "errorReason": "BlockedByClient"}
            stage.cdp.notify("Fetch.failRequest", blocked, session)
            return
        stage.cdp.notify("Fetch.continueRequest", {"requestId": params["requestId"]}, session)

    stage.cdp.on("Fetch.requestPaused", paused)
    await stage.cdp.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})


SetStage = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def stage_at(tmp_path: Path) -> SetStage:
    def factory(**settings: Any) -> AbstractAsyncContextManager[Stage]:
        return set_stage(tmp_path, **settings)

    return factory


@pytest.fixture
def display(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The name of a running display and the directory of its frame buffer."""
    with running_display(tmp_path / "fb") as running:
        yield running
