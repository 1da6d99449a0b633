"""The browser tools against a real Chromium."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clawbench.harnesses.reference.agent import activity
from clawbench.harnesses.reference.agent.browser import Browser
from clawbench.harnesses.reference.agent.cdp import BrowserGone
from clawbench.harnesses.reference.agent.tools import ToolError
from clawbench.harnesses.reference.agent.web import WebTools

from .conftest import Pages, end_chromium, start_chromium

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def web_tools(address: str) -> AsyncIterator[WebTools]:
    browser = await Browser.connect(address)
    try:
        yield WebTools(browser)
    finally:
        await browser.close()


def number(reading: str, line: str) -> int:
    """The number of the element whose line of the reading matches."""
    match = re.search(rf"^\[(\d+)\] {line}", reading, re.MULTILINE)
    assert match, f"{line!r} is not in:\n{reading}"
    return int(match[1])


FORM = """<title>Form</title><h1>Order</h1>
<form action="/sent" method="post">
<label>Quantity <input name="qty" type="number" value="1"></label>
<label for="mail">E-mail</label>
<input id="mail" name="mail" type="email" placeholder="you@example.org" required>
<label>Blend <select name="blend">
<option value="">Choose</option><option value="eg">Earl Grey</option></select></label>
<label>When <input name="day" type="date"></label>
<label><input type="radio" name="speed" value="slow" checked> Slow</label>
<label><input type="radio" name="speed" value="fast" style="position:absolute;opacity:0"> Fast</label>
<label><input type="checkbox" name="terms"> I accept <a href="/terms">the terms</a></label>
<textarea name="note" aria-label="Note"></textarea>
<p style="display:none">secret</p><button>Place order</button></form>
<script>window.seen = []; for (const type of ['keydown', 'keyup', 'input', 'change', 'click'])
addEventListener(type, event =>
seen.push(type + (event.key ? ':' + event.key : '') + (event.isTrusted ? '' : '!')), true)
</script>"""


async def test_a_form_is_read_filled_and_sent(chromium: str, pages: Pages) -> None:
    pages.content = {"/": FORM, "/sent": "<title>Thanks</title><h1>Thank you</h1>"}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        assert f"url: {pages.url('/')}\ntitle: Form" in reading
        assert "# Order" in reading
        assert 'textbox "Quantity" type=number value="1"' in reading
        assert 'textbox "E-mail" type=email value="" required' in reading
        assert 'select "Blend" value="Choose" options: "Choose", "Earl Grey"' in reading
        assert 'radio "Slow" checked' in reading
        assert 'link "the terms" -> /terms' in reading
        assert "secret" not in reading
        await web.type(number(reading, 'textbox "Quantity"'), "12")
        await web.type(number(reading, 'textbox "E-mail"'), "alex@mail.example")
        assert "Earl Grey" in await web.select(number(reading, 'select "Blend"'), "earl grey")
        await web.type(number(reading, 'textbox "When"'), "2026-11-14")
        await web.click(number(reading, 'radio "Fast"'))
        await web.click(number(reading, 'checkbox "I accept the terms"'))
        await web.type(number(reading, 'textbox "Note"'), "Grüße, 茶!\nbye")
        sent = await web.click(number(reading, 'button "Place order"'))
    assert "title: Thanks" in sent
    assert "# Thank you" in sent
    (path, body), *_ = pages.posted
    assert path == "/sent"
    assert b"qty=12&mail=alex%40mail.example&blend=eg&day=2026-11-14&speed=fast&terms=on&note=Gr" in body


ODD = """<title>Odd</title>
<details><summary>More</summary><p>folded away</p></details>
<div contenteditable aria-label="Message">draft</div>
<div role="combobox" aria-label="City" aria-expanded="false" tabindex="0">Oslo</div>
<div onclick="document.title='div clicked'">A plain div</div>
<div style="cursor:pointer">A pointer</div>
<table><tr><th>Tea</th><th>Price</th></tr><tr><td>Sencha</td><td>$12</td></tr></table>
<p style="visibility:hidden">unseen <b style="visibility:visible">but this</b></p>
<img alt="A teapot" width=10 height=10><button disabled>Later</button><button aria-label="Close">×</button>
<input type="password" aria-label="Password" value="hunter2"><input readonly aria-label="Code" value="77">
<select aria-label="Many" multiple><option>a<option>b<option>c</select>
<label for="n">Name</label><input id="n" value='say "hi"'>
<div role="dialog">In a dialog<a href="https://elsewhere.example/x">away</a></div>"""


async def test_odd_elements_are_read_as_a_user_sees_them(chromium: str, pages: Pages) -> None:
    pages.content = {"/": ODD}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        for line in (
            'button "More"', 'textbox "Message" value="draft"', 'combobox "City" value="Oslo" collapsed',
            'clickable "A plain div"', 'clickable "A pointer"', 'button "Later" disabled', 'button "Close"',
            'textbox "Password" type=password value="•••••••"', 'textbox "Code" value="77" read-only',
            'select "Many" value="" options: "a", "b", "c"', 'textbox "Name" value="say \\"hi\\""',
            'link "away" -> https://elsewhere.example/x',
        ):  # fmt: skip
            number(reading, re.escape(line))
        for text in (
            "Tea | Price |",
            "Sencha | $12 |",
            "but this",
            "(image: A teapot)",
            "(dialog)\nIn a dialog",
        ):
            assert text in reading
        assert "folded away" not in reading
        assert "unseen" not in reading
        assert 'holds "Grüße\\nzwei"' in await web.type(number(reading, 'textbox "Message"'), "Grüße\nzwei")
        await web.select(number(reading, 'select "Many"'), "b")
        await web.select(number(reading, 'select "Many"'), "c")
        for name, problem in (("Later", "is disabled"), ("Code", "is read-only")):
            element = number(reading, f'\\w+ "{name}"')
            with pytest.raises(ToolError, match=problem):
                await (web.click(element) if name == "Later" else web.type(element, "x"))
        with pytest.raises(ToolError, match='has no option "z"; it has "a", "b", "c"'):
            await web.select(number(reading, 'select "Many"'), "z")
        with pytest.raises(ToolError, match="use browser_select"):
            await web.click(number(reading, 'select "Many"'))
        assert "title: div clicked" in await web.click(number(reading, 'clickable "A plain div"'))
        await web.click(number(reading, 'button "More"'))
        after = await web.read()
    assert "folded away" in after
    assert 'select "Many" value="b, c"' in after


async def test_requests_without_an_end_hold_nothing_up(
    chromium: str, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "REQUEST_COUNTS_S", 0.5)
    hanging = threading.Event()

    def hang(_body: bytes) -> str:
        hanging.wait(30)
        return ""

    pages.content = {"/": "<button>Go</button><script>fetch('/poll')</script>", "/poll": hang}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        started = time.monotonic()
        await web.click(number(reading, 'button "Go"'))
        taken = time.monotonic() - started
    hanging.set()
    assert taken < 2


async def test_typing_sends_real_key_events(chromium: str, pages: Pages) -> None:
    pages.content = {"/": FORM}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        result = await web.type(number(reading, 'textbox "Quantity"'), "25")
        assert 'it now holds "25"' in result
        seen = await web._evaluate("seen")
    assert seen[-6:] == ["keydown:2", "input", "keyup:2", "keydown:5", "input", "keyup:5"]
    assert not [event for event in seen if event.endswith("!")]


async def test_a_covered_element_is_not_clicked(chromium: str, pages: Pages) -> None:
    pages.content = {
        "/": "<button onclick=\"document.title='clicked'\">Buy</button>"
        "<div id=banner style='position:fixed;inset:0;background:#eee'>We use cookies"
        "<button onclick='banner.remove()'>Accept</button></div>"
    }
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        with pytest.raises(ToolError, match='is covered by something else: "We use cookies'):
            await web.click(number(reading, 'button "Buy"'))
        await web.click(number(reading, 'button "Accept"'))
        assert "title: clicked" in await web.click(number(reading, 'button "Buy"'))


async def test_dialogs_are_answered_and_told(chromium: str, pages: Pages) -> None:
    pages.content = {"/": "<button onclick=\"document.title = confirm('Sure?') ? 'yes' : 'no'\">Go</button>"}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        result = await web.click(number(reading, 'button "Go"'))
    assert "note: the page showed a dialog (confirm), accepted: 'Sure?'" in result
    assert "title: yes" in result


async def test_frames_and_shadow_roots_are_read_and_clicked(chromium: str, pages: Pages) -> None:
    inner = "<body style='margin:40px'><button onclick=\"this.textContent='pressed {0}'\">inside {0}</button>"
    pages.content = {
        "/": f"""<body><h1>Outer</h1><div style="height:1500px">space</div>
<iframe src="/same" style="border:7px solid"></iframe>
<iframe src="{pages.url("/other", "other.test")}"></iframe>
<div id=host></div><script>host.attachShadow({{mode: 'open'}}).innerHTML =
'<b>in shadow</b><button onclick="this.textContent=\\'pressed shadow\\'">shadow</button>'</script>""",
        "/same": inner.format("same"),
        "/other": inner.format("other") + f"<iframe src='{pages.url('/deep', 'deep.test')}'></iframe>",
        "/deep": inner.format("deep"),
    }
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        for name in ("inside same", "shadow", "inside other", "inside deep"):
            await web.click(number(reading, f'button "{name}"'))
        after = await web.read()
    for name in ("same", "shadow", "other", "deep"):
        assert f'button "pressed {name}"' in after
    assert "in shadow" in after


async def test_new_tabs_are_followed_and_left_when_closed(chromium: str, pages: Pages) -> None:
    pages.content = {
        "/": "<title>First</title><a href='/second' target=_blank>open</a>",
        "/second": "<title>Second</title><button onclick='window.close()'>close me</button>",
    }
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        second = await web.click(number(reading, 'link "open"'))
        assert "note: a new tab was opened" in second
        assert "title: Second" in second
        back = await web.click(number(second, 'button "close me"'))
    assert "note: the tab was closed" in back
    assert "title: First" in back


async def test_waiting_is_for_the_text_not_for_the_clock(chromium: str, pages: Pages) -> None:
    pages.content = {
        "/": "<p>loading</p><script>setTimeout(() => document.body.append('all here'), 700)</script>"
    }
    async with web_tools(chromium) as web:
        await web.open(pages.url("/"))
        started = asyncio.get_running_loop().time()
        assert "'All here' is on the page" in await web.wait(seconds=20, text="All here")
        assert asyncio.get_running_loop().time() - started < 5
        assert "'never' did not appear" in await web.wait(seconds=0.3, text="never")


async def test_files_are_given_to_fields_and_to_buttons(chromium: str, pages: Pages, tmp_path: Path) -> None:
    (tmp_path / "cv.pdf").write_bytes(b"%PDF-1.7")
    pages.content = {
        "/": "<input id=f type=file style='display:none' onchange='document.title=this.files[0].name'>"
        "<button onclick='f.click()'>Upload CV</button><button>Other</button>"
    }
    async with web_tools(chromium) as web:
        for element in ("file", 'button "Upload CV"'):
            reading = await web.open(pages.url("/"))
            path = str(tmp_path / "cv.pdf")
            assert "title: cv.pdf" in await web.upload(number(reading, element), path)
        with pytest.raises(ToolError, match="there is no file /nowhere"):
            await web.upload(1, "/nowhere")


async def test_long_pages_come_in_parts_and_scroll(chromium: str, pages: Pages) -> None:
    pages.content = {"/": "<body>" + "".join(f"<p>line {i} {'x' * 60}</p>" for i in range(400))}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        assert "part 1 of 2" in reading
        assert "line 399" in await web.read(part=2)
        assert re.search(r"visible now: [1-9]\d*–", await web.scroll("down"))


async def test_elements_of_a_page_that_is_gone_are_refused(chromium: str, pages: Pages) -> None:
    pages.content = {"/": "<button onclick='this.remove()'>once</button>"}
    async with web_tools(chromium) as web:
        reading = await web.open(pages.url("/"))
        once = number(reading, 'button "once"')
        await web.click(once)
        with pytest.raises(ToolError, match="no longer on the page"):
            await web.click(once)
        await web._browser.call("Page.navigate", {"url": pages.url("/")})
        await web._browser.settle()
        with pytest.raises(ToolError, match="no longer on the page"):
            await web.click(once)
        with pytest.raises(ToolError, match=r"no element \[99\]"):
            await web.click(99)
        with pytest.raises(ToolError, match="could not be opened: net::ERR_UNSAFE_PORT"):
            await web.open("http://127.0.0.1:1/")


async def test_the_end_of_the_browser_is_noticed(tmp_path: Path) -> None:
    process, port = start_chromium(tmp_path / "profile")
    try:
        browser = await Browser.connect(f"http://127.0.0.1:{port}")
        process.kill()
        async with asyncio.timeout(5):
            await browser.ended()
        with pytest.raises(BrowserGone):
            await WebTools(browser).read()
        await browser.close()
    finally:
        end_chromium(process)
    with pytest.raises(BrowserGone, match="no browser answers"):
        await Browser.connect(f"http://127.0.0.1:{port}")
