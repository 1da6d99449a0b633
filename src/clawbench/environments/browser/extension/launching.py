"""A browser for a person: their screen, a fresh profile, the extension in it and already paired."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from clawbench.environments.browser.cdp import CdpConnection, CdpError
from clawbench.environments.browser.display import tail
from clawbench.environments.browser.flags import QUIET, UNSANDBOXED, preferences, trusting
from clawbench.environments.browser.launch import write_profile
from clawbench.environments.browser.pipe import start_piped
from clawbench.errors import EnvironmentFailedError
from clawbench.sandbox import Command, Limits, Sandbox

SCREEN = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "LANG", "LC_ALL")
"""What of the person's environment a window needs."""
LIMITS = Limits(memory_mb=None, processes=None, file_mb=None)
START_TIMEOUT_S = 30.0
WIDTH, HEIGHT = 1280, 900


def has_screen() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def runs_unsandboxed() -> bool:
    """Chromium refuses to run its own sandbox for root."""
    return os.geteuid() == 0


def arguments(profile: Path, hosts: Mapping[str, int], trusted_key: str | None = None) -> list[str]:
    """How the browser is started; `hosts` are made-up names and the loopback ports that answer for them.

    A name may have a port of its own (`NAME:PORT`), before the name alone.
    """
    rules = ",".join(f"MAP {name} 127.0.0.1:{port}" for name, port in hosts.items())
    return [
        *("--remote-debugging-pipe", "--enable-unsafe-extension-debugging", f"--user-data-dir={profile}"),
        *QUIET,
        *([f"--host-resolver-rules={rules}"] if rules else []),
        *trusting(trusted_key),
        *(UNSANDBOXED if runs_unsandboxed() else ()),
        "about:blank",
    ]


@asynccontextmanager
async def own_browser(
    program: Path,
    sandbox: Sandbox,
    scratch: Path,
    *,
    extension: Path,
    url: str,
    files: Path,
    hosts: Mapping[str, int],
    temporary: Path,
    trusted_key: str | None = None,
) -> AsyncIterator[CdpConnection]:
    """Open a window with the extension and `url` in it; it closes with the block.

    The address goes over the pipe: the token in it is seen in no list of processes. File dialogs open
    at `files`; the path of `temporary` is short.
    """
    profile, log = scratch / "profile", scratch / "own-browser.log"
    write_profile(profile, preferences(WIDTH, HEIGHT, str(files)))
    screen = {name: os.environ[name] for name in SCREEN if name in os.environ}
    argv = [str(program), *arguments(profile, hosts, trusted_key)]
    command = Command(argv, env=screen | {"TMPDIR": str(temporary)}, stdout=log, stderr=log, limits=LIMITS)
    process, pipe = await start_piped(sandbox, command)
    cdp = CdpConnection(pipe)
    try:
        try:
            await cdp.send("Extensions.loadUnpacked", {"path": str(extension)}, timeout=START_TIMEOUT_S)
            await cdp.send("Target.createTarget", {"url": url})
        except CdpError as error:
            raise EnvironmentFailedError(
                f"{program} could not be started with the extension: {error.message}. {tail(log)} "
                "Start without --launch and load the extension by hand"
            ) from None
        yield cdp
    finally:
        cdp.close()
        await process.end()
