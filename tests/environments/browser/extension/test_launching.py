"""The browser that `--launch` opens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from clawbench.doctor import find_browser
from clawbench.environments.browser.extension import write_extension
from clawbench.environments.browser.extension.launching import arguments, own_browser
from clawbench.sandbox import open_sandbox
from tests.environments.browser.extension.display import running_display
from tests.environments.browser.extension.person import Person, until

pytestmark = pytest.mark.anyio


async def test_a_window_opens_paired_and_reaches_made_up_names(
    site: Any, recorder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (program := find_browser()) is None:
        pytest.skip("Chromium is not installed")
    site.pages["/"] = "<title>Made up</title><button id=b>Press</button>"
    home = tmp_path / "home"
    home.mkdir()
    with running_display() as display, TemporaryDirectory(dir="/tmp") as temporary:
        monkeypatch.setenv("DISPLAY", display)
        async with recorder() as recorded:
            opening = own_browser(
                program,
                open_sandbox("none", home=home),
                tmp_path,
                extension=write_extension(tmp_path / "extension"),
                url=recorded.api.pairing_url,
                files=tmp_path,
                hosts={"made-up.example": site.port},
                temporary=Path(temporary),
            )
            async with opening as cdp:
                await asyncio.wait_for(recorded.recording.armed(), 20)
                alex = Person(cdp, "")
                await alex.open("http://made-up.example/", new_tab=True)
                await alex.click("#b")
                await until(lambda: recorded.actions("click"))
                await recorded.recording.close()
                assert not cdp.closed.is_set()
            assert cdp.closed.is_set()
    (click,) = recorded.actions("click")
    assert click["url"] == "http://made-up.example/"
    assert (recorded.run.screenshots / click["screenshot"]).is_file()


def test_the_address_with_the_token_is_no_argument() -> None:
    assert arguments(Path("/p"), {"a.example": 7})[-1] == "about:blank"
    assert "--host-resolver-rules=MAP a.example 127.0.0.1:7" in arguments(Path("/p"), {"a.example": 7})
