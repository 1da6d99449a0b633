"""The two browsers that are compared: one as a run has it, and one with everything off."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from clawbench.doctor import find_browser
from clawbench.environments.browser import BrowserSession, EgressRules, SessionConfig
from clawbench.environments.browser.flags import DETOURS, UNSANDBOXED, flags, preferences
from clawbench.environments.browser.launch import write_profile
from clawbench.errors import MissingPartError
from clawbench.results import RunDirectory, StopReason
from clawbench.sandbox import Bridge

HOST = "shop.example"
SCHEMA = {"url_pattern": r"shop\.example/api/orders(\?|$)", "method": "POST", "body": {"kind": "final"}}
SIZE = (1920, 1080)


@dataclass(frozen=True)
class Site:
    socket: Path
    port: int


@dataclass(frozen=True)
class Display:
    name: str
    pid: int


@dataclass(frozen=True)
class Subject:
    """A browser and where a CDP client finds it."""

    name: str
    endpoint: str
    pid: int
    """The process above all others of it."""
    display: Display | None
    """Where that is within reach."""
    run: RunDirectory | None
    """What is being recorded."""


@asynccontextmanager
async def running_site(scratch: Path) -> AsyncIterator[Site]:
    path = scratch / "site.sock"
    program = Path(__file__).with_name("site.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield Site(path, int(await process.stdout.readline()))
    finally:
        await ended(process)


@asynccontextmanager
async def recorded(scratch: Path, site: Site) -> AsyncIterator[Subject]:
    """A session as the runner starts it; the agent's way to it goes through a bridge, as in a run."""
    scratch.mkdir()
    run = RunDirectory.create(scratch / "out", batch="b", suite="s", task="t", harness="h", model="m")
    config = SessionConfig(
        run_dir=run.path,
        eval_schema=SCHEMA,
        egress=EgressRules(routes={HOST: site.socket}, internet=False),
        relay_socket=scratch / "cdp.sock",
        scratch=scratch,
        browser=the_browser(),
    )
    session = BrowserSession(stderr=scratch / "session.log")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(session.kill)
        await session.start(config)
        stack.push_async_callback(session.stop, StopReason.AGENT_EXITED)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        bridge = Bridge(listener, config.relay_socket)
        stack.push_async_callback(bridge.close)
        bridge.start()
        yield Subject("on", f"http://127.0.0.1:{listener.getsockname()[1]}", session.pid, None, run)


@asynccontextmanager
async def plain(scratch: Path, site: Site) -> AsyncIterator[Subject]:
    """The same browser, as it comes: no sandbox, no proxy, nobody at its CDP but the driver."""
    scratch.mkdir()
    write_profile(scratch / "profile", preferences(*SIZE, str(scratch)))
    async with AsyncExitStack() as stack:
        display = await stack.enter_async_context(running_display())
        process = await asyncio.create_subprocess_exec(
            *(str(the_browser()), *plain_flags(scratch / "profile", site)),
            env={**os.environ, "DISPLAY": display.name},
            stderr=asyncio.subprocess.PIPE,
        )
        stack.push_async_callback(ended, process)
        assert process.stderr is not None
        async for line in process.stderr:
            if found := re.search(rb"DevTools listening on ws://([^/]+)/", line):
                break
        else:
            raise RuntimeError("the plain browser did not start")
        draining = asyncio.create_task(process.stderr.read())
        stack.callback(draining.cancel)
        yield Subject("off", f"http://{found[1].decode()}", process.pid, display, None)


def plain_flags(profile: Path, site: Site) -> list[str]:
    ours = flags(profile=str(profile), proxy_port=0, websocket_port=0, width=SIZE[0], height=SIZE[1])
    of_sessions = ("--remote-debugging-pipe", "--proxy-", "--enable-features=")
    kept = [flag for flag in ours if not flag.startswith(of_sessions)]
    for detour in DETOURS:
        kept = [flag.replace(f",{detour}", "") for flag in kept]
    return [
        *UNSANDBOXED,
        "--remote-debugging-port=0",
        f"--host-resolver-rules=MAP {HOST}:80 127.0.0.1:{site.port}",
        *kept,
    ]


@asynccontextmanager
async def running_display() -> AsyncIterator[Display]:
    read_fd, write_fd = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *("Xvfb", "-displayfd", str(write_fd), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-dpi", "96"),
        *("-nolisten", "tcp", "-noreset"),
        pass_fds=[write_fd],
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(write_fd)
    try:
        with os.fdopen(read_fd) as ready:
            number = (await asyncio.to_thread(ready.readline)).strip()
        yield Display(f":{number}", process.pid)
    finally:
        await ended(process)


def the_browser() -> Path:
    browser = find_browser()
    if browser is None:
        raise MissingPartError("Chromium", "it is what is measured", "Run `clawbench doctor --fix`")
    return browser


async def ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    await process.wait()
