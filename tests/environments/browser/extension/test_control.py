"""Pairing, the popup, and what holds when the recorder or the extension's own process is gone."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import clawbench
from clawbench.environments.browser.api.re2 import re2_patterns
from clawbench.environments.browser.extension import write_extension
from clawbench.results import StopReason
from tests.environments.browser.api.recorded import TOKEN
from tests.environments.browser.extension.person import Person, running_chromium, until

pytestmark = pytest.mark.anyio

PATTERNS = (
    r"^https?://(www\.)?shop\.example/api/orders$",
    r"(?i)/(?:cart|order)s?/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}\b",
    r"/order(?!s)[^/?#]{1,300}/(x|y){1,50}\Z",
    r"(?P<host>[\w.-]+)/(?P=host)/[ü-ÿ]",
    r"(?x) ^https:// [^/]+ /graphql (\?|$)",
)


async def test_the_popup_pairs_and_finishes(person: Any, site: Any, recorder: Any) -> None:
    async with person() as alex, recorder() as recorded:
        await alex.open_popup()
        await alex.shows("#state", "Not recording.")
        await alex.evaluate("document.querySelector('#address').value = 'https://evil.example/pair#x'")
        await alex.click("#pairing button")
        assert "not a pairing address" in await alex.text("#notice")
        wrong = recorded.api.pairing_url + "x"
        await alex.evaluate(f"document.querySelector('#address').value = {wrong!r}")
        await alex.click("#pairing button")
        await alex.shows("#notice", "this is not the session's token")
        await alex.evaluate(f"document.querySelector('#address').value = {recorded.api.pairing_url!r}")
        await alex.click("#pairing button")
        await asyncio.wait_for(recorded.recording.armed(), 15)
        await alex.shows("#state", f"Recording s/t for {recorded.api.url}.")
        assert await alex.in_extension("chrome.action.getBadgeText({})") == "REC"
        await alex.click("#finish")
        over = await asyncio.wait_for(recorded.recording.over(), 15)
        await recorded.recording.close()
        await alex.shows("#state", "Not recording.")
    assert over == (StopReason.AGENT_EXITED, "The person pressed Finish")


@pytest.mark.faults
async def test_without_a_goodbye_the_request_stays_held_until_the_person_says_so(
    person: Any, site: Any, recorder: Any
) -> None:
    order = "fetch('/order', {method: 'POST', body: 'x'}).then((r) => r.status, String)"
    async with person() as alex:
        async with recorder() as recorded:
            await alex.pair(recorded)
            recorded.recording.live = silence
            await alex.restart_extension()
            await alex.open(site.url("/"), new_tab=True)
        page = alex.tab
        assert await alex.evaluate(order) == "TypeError: Failed to fetch"
        await alex.open_popup()
        await alex.shows("#state", "is gone. What it was to hold is still held.")
        assert await alex.in_extension("chrome.action.getBadgeText({})") == "!"
        assert await alex.evaluate(order, page) == "TypeError: Failed to fetch"
        await alex.click("#forget")
        await alex.shows("#state", "Not recording.")
        assert await alex.evaluate(order, page) == 200
    assert site.got("POST", "/order") == [b"x"]


async def silence() -> Any:
    """A recorder that dies says nothing more."""
    yield '{"event": "hello"}\n'
    await asyncio.sleep(0.2)


async def test_a_browser_that_is_paired_again_tells_everything_once(
    person: Any, site: Any, recorder: Any
) -> None:
    site.pages["/"] = (
        "<div id=host><template shadowrootmode=open><input id=inner></template></div><input id=other>"
    )
    async with person() as alex, recorder() as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        page = alex.tab
        await until(lambda: recorded.actions("pageLoad"))
        await alex.pair(recorded)
        alex.tab = page
        await alex.evaluate("host.shadowRoot.querySelector('#inner').focus()")
        await alex.type("a")
        await alex.click("#other")
        await until(lambda: recorded.actions("click"))
        kinds = [action["type"] for action in recorded.actions() if action["type"] != "pageLoad"]
    assert kinds == ["keydown", "input", "keyup", "change", "click"]


async def test_a_restarted_extension_takes_up_where_it_was(person: Any, site: Any, recorder: Any) -> None:
    site.pages["/"] = "<button id=b>Press</button>"
    async with person() as alex, recorder() as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        await until(lambda: recorded.actions("pageLoad"))
        await alex.restart_extension()
        await until(lambda: not recorded.recording.presence.here)
        await alex.click("#b")
        await until(lambda: recorded.actions("click"))
        await until(lambda: recorded.recording.presence.here)


async def test_a_browser_that_starts_again_rejoins_its_recorder(
    site: Any, recorder: Any, tmp_path: Path
) -> None:
    extension = write_extension(tmp_path / "extension")
    flags = (f"--load-extension={extension}", "--disable-features=DisableLoadExtensionCommandLineSwitch")
    site.pages["/"] = "<button id=b>Press</button>"
    async with recorder() as recorded:
        with running_chromium(tmp_path / "profile", *flags) as cdp:
            alex = Person(cdp, "chrome-extension://")
            await alex.in_extension("chrome.runtime.id")
            await alex.pair(recorded)
        await until(lambda: not recorded.recording.presence.here)
        with running_chromium(tmp_path / "profile", *flags) as cdp:
            await until(lambda: recorded.recording.presence.here)
            alex = Person(cdp, "chrome-extension://")
            await alex.open(site.url("/"))
            await alex.click("#b")
            await until(lambda: recorded.actions("click"))
            await alex.evaluate("void fetch('/order', {method: 'POST'}).catch(() => 0)")
            assert (await asyncio.wait_for(recorded.recording.over(), 15))[0] is StopReason.INTERCEPTED
            await recorded.recording.close()
    assert site.got("POST", "/order") == []


async def test_a_second_recorder_waits_and_open_pages_are_taken_in(
    person: Any, site: Any, recorder: Any, tmp_path: Path
) -> None:
    # Elements with the names of what the recorder keeps in its world must not keep it out.
    names = "<div id=recorder></div><div id=clawbenchRecorderReport></div><div id=clawbenchDisarm></div>"
    site.pages["/"] = f"<title>Open before</title><button id=b>Press</button>{names}"
    async with person() as alex, recorder() as first:
        await alex.open(site.url("/"))
        page = alex.tab
        await alex.pair(first)
        async with recorder() as second:
            await alex.open(second.api.pairing_url, new_tab=True)
            await alex.shows("#state", "Not paired: already recording s/t: finish that first")
        alex.tab = page
        await alex.click("#b")
        await until(lambda: first.actions("click"))
        assert [action["title"] for action in first.actions("pageLoad")] == ["Open before"]


async def test_a_pattern_no_rule_can_hold_is_refused_and_nothing_recorded(person: Any, recorder: Any) -> None:
    endless = "|".join(f"{number:x}[a-z]+{number}" for number in range(4000))
    async with person() as alex, recorder(url_pattern=endless) as recorded:
        await alex.open(recorded.api.pairing_url)
        await alex.shows("#state", "Not paired: a rule of this browser cannot hold the task's pattern")
        with pytest.raises(Exception, match="cannot hold the final request back"):
            await recorded.recording.armed()
        assert await alex.in_extension("chrome.storage.local.get()") == {}


async def test_chrome_accepts_every_translated_pattern(person: Any) -> None:
    async with person() as alex:
        for pattern in PATTERNS:
            supported = [
                await alex.in_extension(
                    f"chrome.declarativeNetRequest.isRegexSupported({{regex: {translated!r}}})"
                )
                for translated in re2_patterns(pattern)
            ]
            assert supported[-1] == {"isSupported": True}, pattern
            assert all(one.get("reason") != "syntaxError" for one in supported), pattern


async def test_pages_learn_nothing_of_the_extension(person: Any, site: Any, recorder: Any) -> None:
    async with person() as alex, recorder() as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        await until(lambda: recorded.actions("pageLoad"))
        mine = "Object.getOwnPropertyNames(globalThis).filter((name) => /claw|^recorder/i.test(name))"
        assert await alex.evaluate(mine) == []
        status = f"fetch('{recorded.api.url}/api/status', {{headers: {{Authorization: 'Bearer {TOKEN}'}}}})"
        assert await alex.evaluate(f"{status}.then(String, String)") == "TypeError: Failed to fetch"


def test_the_extension_is_put_together_once_and_kept_up_to_date(tmp_path: Path) -> None:
    directory = write_extension(tmp_path / "extension")
    first = {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}
    assert {"manifest.json", "background.js", "content.js", "recorder.js", "popup.html"} <= set(first)
    assert f'"version": "{clawbench.__version__}"' in (directory / "manifest.json").read_text()
    (directory / "old.js").write_text("of an earlier version")
    (directory / "pair.js").write_text("changed")
    time.sleep(0.01)
    write_extension(directory)
    second = {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}
    assert {name for name in first if first[name] != second[name]} == {"pair.js"}
    assert "old.js" not in second
