"""The browser that `--launch` opens."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from clawbench.doctor import find_browser
from clawbench.environments.browser.extension import write_extension
from clawbench.environments.browser.extension.launching import arguments, own_browser
from clawbench.sandbox import open_sandbox
from clawbench.sites.certificate import make_certificate
from tests.environments.browser.extension.display import running_display
from tests.environments.browser.extension.person import Person, until

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def served_securely(directory: Path) -> AsyncIterator[tuple[int, str]]:
    """A port with a page over TLS, and the key of its certificate."""
    if (certificate := make_certificate(["made-up.example"], directory)) is None:
        pytest.skip("openssl is not installed")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.chain, certificate.key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        page = b"<title>Secure</title>"
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + page)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1], certificate.key_hash


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
        async with recorder() as recorded, served_securely(tmp_path) as (secure, key_hash):
            opening = own_browser(
                program,
                open_sandbox("none", home=home),
                tmp_path,
                extension=write_extension(tmp_path / "extension"),
                url=recorded.api.pairing_url,
                files=tmp_path,
                hosts={"made-up.example:443": secure, "made-up.example": site.port},
                temporary=Path(temporary),
                trusted_key=key_hash,
            )
            async with opening as cdp:
                await asyncio.wait_for(recorded.recording.armed(), 20)
                alex = Person(cdp, "")
                await alex.open("http://made-up.example/", new_tab=True)
                await alex.click("#b")
                await until(lambda: recorded.actions("click"))
                await alex.open("https://made-up.example/", new_tab=True)
                await until(lambda: recorded.actions("pageLoad")[-1]["title"] == "Secure")
                await recorded.recording.close()
                assert not cdp.closed.is_set()
            assert cdp.closed.is_set()
    (click,) = recorded.actions("click")
    assert click["url"] == "http://made-up.example/"
    assert (recorded.run.screenshots / click["screenshot"]).is_file()


def test_the_address_with_the_token_is_no_argument() -> None:
    assert arguments(Path("/p"), {"a.example": 7})[-1] == "about:blank"
    assert "--host-resolver-rules=MAP a.example 127.0.0.1:7" in arguments(Path("/p"), {"a.example": 7})
