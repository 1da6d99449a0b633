"""A browser that runs elsewhere: a Chromium with a debugging port, and the other people who use it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

from tests.environments.browser.conftest import AgentClient, until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROME = shutil.which("google-chrome-stable") or shutil.which("google-chrome")
FLAGS = (
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Elsewhere:
    """A running browser."""

    port: int
    process: subprocess.Popen[bytes]
    guests: list[AgentClient] = field(default_factory=list)

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def websocket(self) -> str:
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"{self.http}/json/version")
        return str(answer.json()["webSocketDebuggerUrl"])

    async def client(self) -> AgentClient:
        """Somebody else who uses this browser, with all rights."""
        socket = await connect(await self.websocket(), max_size=None, compression=None, proxy=None)
        self.guests.append(AgentClient(socket))
        return self.guests[-1]

    async def pages(self) -> list[dict[str, Any]]:
        client = await self.client()
        targets = (await client("Target.getTargets"))["targetInfos"]
        return [info for info in targets if info["type"] == "page"]


@asynccontextmanager
async def browser_elsewhere(program: str, profile: Path, *, window: bool) -> AsyncIterator[Elsewhere]:
    """Start it, without a window or with one on a display of its own."""
    async with AsyncExitStack() as stack:
        env, flags = dict(os.environ), [*FLAGS, f"--user-data-dir={profile}"]
        if window:
            env["DISPLAY"] = stack.enter_context(_display())
        else:
            flags.append("--headless=new")
        if os.geteuid() == 0:
            flags += ["--no-sandbox", "--test-type"]
        process = _start([program, *flags, "about:blank"], env, profile.with_suffix(".log"))
        stack.callback(_end, process)
        told = profile / "DevToolsActivePort"
        await until(lambda: told.exists() and told.read_text().count("\n") > 0)
        one = Elsewhere(int(told.read_text().split()[0]), process)
        try:
            yield one
        finally:
            for guest in one.guests:
                await guest.close()


class _display:
    """An X server; entering gives its name."""

    def __enter__(self) -> str:
        ready, told = os.pipe()
        argv = ["Xvfb", "-displayfd", str(told), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
        self._process = subprocess.Popen(argv, pass_fds=[told], stderr=subprocess.DEVNULL)
        os.close(told)
        with os.fdopen(ready) as pipe:
            return f":{pipe.readline().strip()}"

    def __exit__(self, *_: object) -> None:
        _end(self._process)


def _start(argv: list[str], env: dict[str, str], output: Path) -> subprocess.Popen[bytes]:
    with output.open("wb") as log:
        return subprocess.Popen(argv, env=env, stderr=log, stdout=log)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass
class Neighbour:
    """Another user's page in a context of its own."""

    client: AgentClient
    context: str
    target: str
    session: str

    async def run(self, code: str) -> Any:
        return await self.client.run(code, session=self.session)

    async def go(self, url: str) -> None:
        self.client.events.clear()
        await self.client("Page.navigate", url=url, session=self.session)
        await until(lambda: any(e["method"] == "Page.loadEventFired" for e in self.client.events))


async def neighbour(browser: Elsewhere) -> Neighbour:
    client = await browser.client()
    context = (await client("Target.createBrowserContext"))["browserContextId"]
    target = (await client("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
    session = (await client("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    await client("Page.enable", session=session)
    return Neighbour(client, context, target, session)


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def quiet() -> None:
    """Long enough for a request that was let go to arrive: it takes some milliseconds."""
    await asyncio.sleep(0.3)
