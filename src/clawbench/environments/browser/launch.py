"""Chromium in its sandbox: its debugging pipe and its only network listener end up in our hands."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, CdpError
from clawbench.environments.browser.display import SOCKETS, Display, tail
from clawbench.environments.browser.flags import (
    CACHE,
    DOWNLOADS,
    NO_EARLY_HINTS,
    PROFILE,
    UNSANDBOXED,
    caching,
    flags,
    preferences,
    trusting,
)
from clawbench.environments.browser.pipe import start_piped
from clawbench.errors import EnvironmentFailedError
from clawbench.sandbox import Command, Ended, Guardian, Limits, Mount, Process, Sandbox

EGRESS = "egress"
EGRESS_PORT = 1080
WEBSOCKETS = "websockets"
WEBSOCKETS_PORT = 1081
START_TIMEOUT_S = 30.0
END_WITHIN_S = 2.0
GIVING_UP = (signal.SIGTRAP, signal.SIGABRT, signal.SIGILL)
"""How Chromium ends itself where it cannot go on."""
LIMITS = Limits(memory_mb=6144, processes=1024)
SYSTEM = Path("/usr")

__all__ = ["DOWNLOADS", "Browser", "launch", "short_directory"]


@dataclass(frozen=True)
class Browser:
    """A running Chromium that nobody else can speak to."""

    cdp: CdpConnection
    catch_up: Callable[[], None]
    """Takes in at once all that the browser has said up to now."""
    listener: socket.socket
    """Where its traffic arrives; nothing leaves unless somebody answers here."""
    websocket_listener: socket.socket
    """Where the traffic of its WebSockets arrives."""
    process: Process
    sandbox: Sandbox
    version: str
    sandboxed: bool
    """Whether Chromium's own sandbox is on, too."""


async def launch(
    sandbox: Sandbox,
    display: Display,
    program: Path,
    scratch: Path,
    *,
    width: int,
    height: int,
    temporary: Path | None = None,
    files: str = "/",
    popups_as_asked: bool = False,
    holds_gets: bool = False,
    trusted_key: str | None = None,
) -> Browser:
    """Start Chromium and return once it answers on its pipe.

    `temporary` is its TMPDIR, where it has no /tmp of its own, in memory.
    With `holds_gets` it is kept from loading anything that the interceptor could not hold.
    """
    profile = scratch / "profile"
    write_profile(profile, preferences(width, height, files))
    sandbox.mount(Mount(profile, PROFILE, writable=True))
    sandbox.mount(Mount(display.sockets, SOCKETS))
    if not program.resolve().is_relative_to(SYSTEM):
        sandbox.mount(Mount(program.resolve().parent, str(program.resolve().parent)))
    ports = {
        EGRESS: sandbox.free_port(EGRESS_PORT),
        WEBSOCKETS: sandbox.free_port(WEBSOCKETS_PORT),
    }
    log = scratch / "browser.log"
    arguments = flags(
        profile=sandbox.inside(PROFILE),
        proxy_port=ports[EGRESS],
        websocket_port=ports[WEBSOCKETS],
        width=width,
        height=height,
        popups_as_asked=popups_as_asked,
        extra=[
            *(NO_EARLY_HINTS if holds_gets else ()),
            *trusting(trusted_key),
            *caching(CACHE if temporary is None else None),
        ],
    )
    env = {"DISPLAY": display.name} | ({"TMPDIR": str(temporary)} if temporary else {})
    browser = await _attempt(sandbox, [str(program), *arguments], env, ports, log, sandboxed=True)
    if isinstance(browser, Ended) and sandbox_refused(browser, log):
        argv = [str(program), *UNSANDBOXED, *arguments]
        browser = await _attempt(sandbox, argv, env, ports, log, sandboxed=False)
    if isinstance(browser, Ended):
        raise EnvironmentFailedError(f"The browser {program} did not start: {tail(log)}")
    return browser


def sandbox_refused(ended: Ended, log: Path) -> bool:
    """Whether Chromium's own sandbox is why it ended: a crash must not be a reason to do without."""
    if ended.exit_code <= 0 and -ended.exit_code not in GIVING_UP:
        return False
    said = log.read_text(encoding="utf-8", errors="replace").lower()
    return any(word in said for word in ("sandbox", "namespace", "zygote", "setuid"))


def write_profile(profile: Path, settings: dict[str, Any]) -> None:
    """A fresh profile with our preferences."""
    default = profile / "Default"
    default.mkdir(parents=True, exist_ok=True)
    (default / "Preferences").write_text(json.dumps(settings), encoding="utf-8")
    (profile / "First Run").touch()


async def _attempt(
    sandbox: Sandbox,
    argv: Sequence[str],
    env: dict[str, str],
    ports: dict[str, int],
    log: Path,
    *,
    sandboxed: bool,
) -> Browser | Ended:
    """One start; how the program ended, where it did so before it answered."""
    command = Command(argv, env=env, stdout=log, stderr=log, listen=ports, limits=LIMITS)
    process, pipe = await start_piped(sandbox, command)
    cdp = CdpConnection(pipe)
    try:
        version = await cdp.send("Browser.getVersion", timeout=START_TIMEOUT_S)
    except CdpError:
        cdp.close()
        return await _own_end(process)
    except BaseException:
        cdp.close()
        await process.end()
        raise
    listeners = process.listeners[EGRESS], process.listeners[WEBSOCKETS]
    return Browser(cdp, pipe.catch_up, *listeners, process, sandbox, version["product"], sandboxed)


async def _own_end(process: Process) -> Ended:
    """How a browser that is ending comes to its end; one that is not is ended."""
    try:
        async with asyncio.timeout(END_WITHIN_S):
            return await process.wait()
    except TimeoutError:
        return await process.end()


def short_directory(stack: AsyncExitStack, guardian: Guardian) -> Path:
    """Chromium keeps a unix socket in TMPDIR, whose path may have 107 characters at most."""
    directory = Path(tempfile.mkdtemp(prefix="clawbench-"))
    guardian.watch_directory(directory)
    stack.callback(shutil.rmtree, directory, ignore_errors=True)
    return directory
