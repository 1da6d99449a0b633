"""A browser elsewhere, a site, and sessions on that browser."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from clawbench.environments.browser import BrowserSession, EgressRules, SessionConfig
from clawbench.results import RunDirectory
from tests.environments.browser.conftest import Opened
from tests.environments.browser.remote.elsewhere import CHROMIUM, Elsewhere, browser_elsewhere
from tests.environments.browser.remote.site import Site, serve

RemoteOpener = Callable[..., AbstractAsyncContextManager[Opened]]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as served:
        yield served


@pytest.fixture
async def elsewhere(tmp_path: Path) -> AsyncIterator[Elsewhere]:
    """A Chromium without a window."""
    if CHROMIUM is None or shutil.which("ffmpeg") is None:
        pytest.skip("not installed: Chromium or ffmpeg")
    async with browser_elsewhere(CHROMIUM, tmp_path / "elsewhere", window=False) as browser:
        yield browser


@pytest.fixture
def open_remote(tmp_path: Path, site: Site) -> RemoteOpener:
    """Start a session on the browser with this address."""

    @asynccontextmanager
    async def opened(url: str, **fields: Any) -> AsyncIterator[Opened]:
        run = RunDirectory.create(tmp_path / "out", batch="b", suite="s", task="t", harness="h", model="m")
        (tmp_path / "scratch").mkdir(exist_ok=True)
        config = SessionConfig(
            run_dir=run.path,
            eval_schema={"url_pattern": "/order", "method": "POST"},
            egress=EgressRules(),
            relay_socket=tmp_path / "cdp.sock",
            scratch=tmp_path / "scratch",
            remote=SecretStr(url),
            **fields,
        )
        log = tmp_path / "session.log"
        session = BrowserSession(stderr=log)
        try:
            ready = await session.start(config)
            one = Opened(config, session, site, run, log, ready)
            try:
                yield one
            finally:
                for client in one.clients:
                    await client.close()
        finally:
            await session.kill()

    return opened
