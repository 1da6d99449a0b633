from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clawbench.doctor import find_novnc
from clawbench.environments.browser.vnc import Handout, LiveView, Mode, Subject, ViewSettings, serve_view
from tests.environments.browser.vnc.recorded import Recorded


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def novnc() -> Path:
    found = find_novnc()
    if found is None or shutil.which("x11vnc") is None:
        pytest.skip("not installed: x11vnc and novnc, which live views are made of")
    return found


@pytest.fixture
def handouts(tmp_path: Path) -> list[Handout]:
    profile = tmp_path / "profile.json"
    profile.write_text('{"name": {"full": "Alex Green"}, "phone": "+1 217 555 0148", "note": "caf\u00e9"}')
    return [Handout(profile, "/my-info/profile.json", "Who you are")]


Viewer = Callable[..., AbstractAsyncContextManager[LiveView]]


@pytest.fixture
def open_view(tmp_path: Path, novnc: Path, handouts: list[Handout]) -> Viewer:
    """A view on whatever answers at `vnc.sock`."""

    def view(mode: Mode = "control", **settings: Any) -> AbstractAsyncContextManager[LiveView]:
        return serve_view(
            ViewSettings(mode, **{"port": 0, **settings}),
            Subject("suite/task", "Buy <b>tea</b>.", mode, handouts),
            screen=tmp_path / "vnc.sock",
            relay=tmp_path / "cdp.sock",
            novnc=novnc,
        )

    return view


@dataclass
class Scene:
    """A recorded session, its live view, and a way to read what is really in the recorded browser."""

    session: Any
    view: LiveView
    recorded: Recorded


@pytest.fixture
def open_scene(
    open_session: Any, open_view: Viewer, handouts: list[Handout], tmp_path: Path
) -> Callable[..., AbstractAsyncContextManager[Scene]]:
    @asynccontextmanager
    async def scene(mode: Mode, pages: dict[str, Any]) -> AsyncIterator[Scene]:
        (tmp_path / "scratch").mkdir()
        async with AsyncExitStack() as stack:
            uploads = {one.shown_as: one.path for one in handouts}
            session = await stack.enter_async_context(
                open_session({}, view=mode, vnc_socket=tmp_path / "vnc.sock", uploads=uploads)
            )
            session.site.pages.update(pages)
            view = await stack.enter_async_context(open_view(mode))
            yield Scene(session, view, Recorded(tmp_path / "cdp.sock"))

    return scene
