"""What a document still has to tell when it is left, closed, or when the recording ends."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

SCROLL_TWICE = (
    "(async () => { const shown = () => new Promise(done =>"
    " requestAnimationFrame(() => requestAnimationFrame(done)));"
    " scrollTo(0, 100); await shown(); scrollTo(0, 700); await shown(); LEAVE; })(); 1"
)
HERE = "<p>Here<script>fetch('/here')</script>"
"""Tells that the page has been read so far."""
LONG = "<title>Long</title><div style='height: 9000px'>x</div>"


@contextmanager
def never_answering() -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://a.example:{listening.getsockname()[1]}/x"


async def settled(stage: Any) -> None:
    """All that the pages had to tell has been told."""
    await stage.shown()
    await asyncio.sleep(0.3)


async def read(stage: Any, times: int = 1) -> None:
    await stage.until(lambda: [path for _, path, _ in stage.site.received].count("/here") == times)
    await settled(stage)


def titles(stage: Any) -> list[str]:
    return [load["title"] for load in stage.actions("pageLoad")]


def positions(stage: Any) -> list[int]:
    return [scroll["scrollY"] for scroll in stage.actions("scroll")]


@pytest.mark.parametrize(
    "page",
    [
        "<title>Mid</title><p>On you go<script>location.replace('/next')</script>",
        "<title>Mid</title><form action=/next></form><script>document.forms[0].submit()</script>",
        "<title>Mid</title><script>location.replace('/next')</script>",
        "<title>Mid</title><meta http-equiv=refresh content='0;url=/next'>",
    ],
)
async def test_a_page_that_sends_its_visitor_on_at_once_is_recorded(stage_at: Any, page: str) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = page
        stage.site.pages["/next"] = "<title>Next</title>"
        await stage.send("Page.navigate", {"url": stage.site.url("/")})
        await stage.until(lambda: "Next" in titles(stage))
        await settled(stage)
        assert titles(stage) == ["Mid", "Next"]


async def test_a_page_that_does_not_finish_loading_is_recorded_once_it_can_be_used(stage_at: Any) -> None:
    with never_answering() as picture:
        async with stage_at() as stage:
            stage.site.pages |= {
                "/": f"<title>Shop</title><img src='{picture}'>",
                "/next": "<title>Next</title>",
            }
            for host in ("a.example", "b.example"):
                await stage.send("Page.navigate", {"url": stage.site.url("/")})
                await stage.until(lambda: titles(stage)[-1:] == ["Shop"])
                await stage.open("/next", host)
            assert titles(stage) == ["Shop", "Next"] * 2


async def test_a_page_that_is_read_while_the_recording_ends_is_recorded(stage_at: Any) -> None:
    with never_answering() as script:
        async with stage_at() as stage:
            far = stage.site.url("/far", "b.example")
            stage.site.pages |= {
                "/": f"<title>Half</title>{HERE}<iframe src='{far}'></iframe><script src={script}></script>",
                "/far": f"<title>Far</title>{HERE}<script src='{script}'></script>",
            }
            await stage.send("Page.navigate", {"url": stage.site.url("/")})
            await read(stage, times=2)
            await stage.recorder.close()
            assert sorted(titles(stage)) == ["Far", "Half"]


@pytest.mark.parametrize("leave", ["location = '/next'", "location = NEXT_SITE"])
async def test_the_last_position_is_kept_where_the_page_is_left(stage_at: Any, leave: str) -> None:
    async with stage_at() as stage:
        stage.site.pages |= {"/": LONG, "/next": "<title>Next</title>"}
        await stage.open("/")
        leave = leave.replace("NEXT_SITE", repr(stage.site.url("/next", "b.example")))
        await stage.evaluate(SCROLL_TWICE.replace("LEAVE", leave))
        await stage.until(lambda: titles(stage)[-1] == "Next")
        assert [a["type"] for a in stage.actions()] == ["pageLoad", "scroll", "scroll", "pageLoad"]
        assert positions(stage) == [100, 700]


async def test_the_last_position_is_kept_where_the_recording_ends(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = LONG
        await stage.open("/")
        await stage.evaluate(SCROLL_TWICE.replace("LEAVE; })(); 1", "})()"))
        await stage.recorder.close()
        assert positions(stage) == [100, 700]


async def test_the_last_position_is_kept_of_a_frame_that_a_script_removes(stage_at: Any) -> None:
    async with stage_at() as stage:
        told = SCROLL_TWICE.replace("LEAVE", "parent.postMessage(1, '*')")
        stage.site.pages["/far"] = LONG + f"<script>onmessage = () => {{ {told} }}</script>"
        stage.site.pages["/"] = (
            f"<iframe src='{stage.site.url('/far', 'b.example')}'></iframe>"
            "<script>onmessage = () => document.querySelector('iframe').remove()</script>"
        )
        await stage.open("/")
        await stage.until(lambda: "Long" in titles(stage))
        await stage.evaluate("frames[0].postMessage(1, '*')")
        await stage.until(lambda: len(positions(stage)) == 2)
        assert positions(stage) == [100, 700]


async def test_who_is_asked_whether_to_leave_and_stays_is_recorded_as_before(stage_at: Any) -> None:
    with never_answering() as script:
        async with stage_at() as stage:
            stage.site.pages["/"] = (
                "<title>Stay</title><body style='height: 9000px'><button id=b>b</button>" + HERE + "<script>"
                f"onbeforeunload = event => event.preventDefault()</script><script src='{script}'></script>"
            )
            await stage.send("Page.enable")
            await stage.send("Page.navigate", {"url": stage.site.url("/")})
            await read(stage)
            asked: list[str | None] = []
            stage.cdp.on("Page.javascriptDialogOpening", lambda params, session: asked.append(session))
            await stage.click("#b")
            for wish in (1, 2):
                await stage.evaluate(SCROLL_TWICE.replace("LEAVE", "location = '/next'"))
                await stage.until(lambda wish=wish: asked.count(stage.session) == wish)
                await stage.send("Page.handleJavaScriptDialog", {"accept": False})
                await settled(stage)
            assert titles(stage) == ["Stay"]
            assert positions(stage) == [100, 700] * 2


async def test_the_recorder_asks_nobody_and_keeps_no_page_from_coming_back(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages |= {"/": LONG + "<button id=b style='position: fixed; top: 0'>b</button>"}
        await stage.open("/")
        await stage.send("Page.enable")
        asked: list[str] = []
        stage.cdp.on("Page.javascriptDialogOpening", lambda params, session: asked.append(params["type"]))
        await stage.click("#b")
        await stage.evaluate("addEventListener('pageshow', event => window.kept = event.persisted)")
        await stage.evaluate(SCROLL_TWICE.replace("LEAVE", "location = '/next'"))
        await stage.until(lambda: len(titles(stage)) == 2)
        await stage.evaluate("history.back(); 1")
        await stage.until(lambda: len(titles(stage)) == 3)
        await settled(stage)
        assert await stage.evaluate("window.kept") is True
        assert asked == []
        assert titles(stage) == ["Long", "", "Long"]


async def test_nobody_has_to_wait_for_a_busy_page_to_tell_what_it_has_to_tell(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = LONG
        await stage.open("/")
        await stage.evaluate(SCROLL_TWICE.replace("LEAVE", "0"))
        busy = {"expression": "for (const end = performance.now() + 6000; performance.now() < end; );"}
        stage.cdp.notify("Runtime.evaluate", busy, stage.session)
        leaving = stage.send("Page.navigate", {"url": stage.site.url("/next", "b.example")})
        await asyncio.wait_for(leaving, 3)
