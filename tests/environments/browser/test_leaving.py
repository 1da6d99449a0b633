"""What documents have still to tell when the agent leaves or closes them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from clawbench.results import read_json_lines

pytestmark = pytest.mark.anyio

HALF = b"<title>Half</title><p>Here<script>fetch('/here')</script>"
HANGING = HALF + b"<script>for (;;);</script>"
LONG = b"<title>Long</title><div style='height: 9000px'>x</div>"
SCROLL_TWICE = """new Promise(done => { const next = requestAnimationFrame; scrollTo(0, 100);
next(() => next(() => { scrollTo(0, 700); next(done) })) })"""


def page(content: bytes) -> tuple[str, dict[str, str], bytes]:
    return "200 OK", {"Content-Type": "text/html"}, content


def without_end(content: bytes) -> tuple[str, dict[str, str], bytes]:
    chunk = b"%x\r\n%s\r\n" % (len(content), content)
    return "200 OK", {"Content-Type": "text/html", "Transfer-Encoding": "chunked"}, chunk


def told(opened: Any, kind: str, field: str) -> list[Any]:
    return [line[field] for line in read_json_lines(opened.run.actions) if line["type"] == kind]


@pytest.mark.parametrize("host", ["shop.example", "other.example"])
async def test_a_page_that_is_left_while_it_is_read_is_recorded(
    open_session: Any, until: Any, host: str
) -> None:
    async with open_session({}) as opened:
        opened.site.pages |= {"/half": without_end(HALF), "/next": page(LONG)}
        agent = await opened.page_client()
        await agent("Page.navigate", url="http://shop.example/half")
        await until(lambda: opened.site.got("/here"))
        assert "Half" not in told(opened, "pageLoad", "title")
        await agent.go(f"http://{host}/next")
        await until(lambda: told(opened, "pageLoad", "title")[-2:] == ["Half", "Long"])


@pytest.mark.parametrize("command", ["Page.navigate", "Page.reload", "Target.closeTarget"])
async def test_the_last_position_is_kept_of_what_the_agent_leaves(
    open_session: Any, until: Any, command: str
) -> None:
    async with open_session({}) as opened:
        opened.site.pages["/long"] = page(LONG)
        agent = await opened.page_client()
        made = await agent("Target.createTarget", url="http://shop.example/long")
        tab = await opened.page_client(made["targetId"])
        await until(lambda: "Long" in told(opened, "pageLoad", "title"))
        await tab.run(SCROLL_TWICE)
        more = {"Page.navigate": {"url": "http://shop.example/"}, "Page.reload": {}}
        await tab(command, **more.get(command, {"targetId": made["targetId"]}))
        await until(lambda: told(opened, "scroll", "scrollY")[-1:] == [700])


async def test_a_page_that_hangs_can_be_left_at_once(open_session: Any, until: Any) -> None:
    async with open_session({}) as opened:
        opened.site.pages["/half"] = page(HANGING)
        agent = await opened.page_client()
        going = asyncio.ensure_future(agent("Page.navigate", url="http://shop.example/half"))
        await until(lambda: opened.site.got("/here"))
        async with asyncio.timeout(5):
            await agent("Page.navigate", url="http://other.example/")
        await going
