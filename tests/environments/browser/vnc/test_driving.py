"""A person drives a recorded browser through the page, with a browser of their own."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from clawbench.results import read_json_lines
from tests.environments.browser.vnc.person import ALT, CONTROL, person

pytestmark = pytest.mark.anyio

FIRST_FILE = (300, 82)
"""Where GTK's file dialog lists the first file, on the screen."""
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""


def html(text: str) -> tuple[str, dict[str, str], bytes]:
    return "200 OK", {"Content-Type": "text/html; charset=utf-8"}, f"<!doctype html>{text}".encode()


PAGES = {
    "/shop": html(
        """<title>Shop</title><body onkeydown="window.trusted = event.isTrusted">
        <input id=name> <input id=paste>
        <select id=size><option>small<option>large</select>
        <input id=file type=file onchange="window.chosen = this.files[0].name">
        <button id=more onclick="open('/more', 'more', 'width=500,height=400,left=600,top=400')">More</button>
        <button id=order onclick="fetch('/order', {method: 'POST', body: 'x=1'})">Order</button>"""
    ),
    "/more": html("<title>More</title><input id=inner>"),
}


async def test_everything_a_shop_asks_for_can_be_done_by_hand(open_scene: Any, tmp_path: Path) -> None:
    async with open_scene("control", PAGES) as scene, person(BROWSER, tmp_path / "profile") as somebody:
        recorded, session = scene.recorded, scene.session
        page = await somebody.open(scene.view.url)
        await page.connected()

        await page.press("l", CONTROL)
        await page.type("http://shop.example/shop")
        await page.press("Enter")
        await page.click(*await recorded.where("#name", "/shop"))
        await page.type("Alex Gr\u00e9en, 30 \u20ac?")
        await recorded.until_value("#name", "Alex Gr\u00e9en, 30 \u20ac?")
        assert await recorded.run("window.trusted")

        await page.click(*await recorded.where("#size"))
        await page.press("ArrowDown")
        await page.press("Enter")
        await recorded.until_value("#size", "large")

        await page.click(*await recorded.where("#paste"))
        await page.press_button(".value", "caf\u00e9")
        await recorded.until_value("#paste", "caf\u00e9")

        side = (20, 500, 80, 100)
        before = await page.looks(*side)
        await page.click(*await recorded.where("#file"))
        await page.until_looks_other(before, *side)  # the file dialog, which has opened at the person's files
        await page.click(*FIRST_FILE)
        await page.press("o", ALT)  # its button Open
        await recorded.until("window.chosen")
        assert await recorded.run("window.chosen") == "profile.json"

        await page.click(*await recorded.where("#more"))
        await page.click(*await recorded.where("#inner", "/more"))
        await page.type("in")
        await recorded.until_value("#inner", "in", "/more")
        await page.click(*await recorded.where("#name", "/shop"))
        await recorded.until("!document.hasFocus()", "/more")
        await page.press_button("#windows button", "/more")
        await recorded.until("document.hasFocus()", "/more")
        await page.type("!")
        await recorded.until_value("#inner", "in!", "/more")
        await page.press_button("#windows button", "\u00d7")
        await page.until("document.querySelector('#windows').hidden")

        await page.click(*await recorded.where("#order"))
        stop = await _first(session, "intercepted")
        assert stop.detail.startswith("POST http://shop.example/order")
    assert session.site.got("/order", "POST") == []
    actions = list(read_json_lines(session.run.actions))
    assert {"click", "keydown", "keyup", "input", "change"} <= {action["type"] for action in actions}
    typed = [a["key"] for a in actions if a["type"] == "keydown" and a["url"].endswith("/more")]
    assert [key for key in typed if key != "Shift"] == ["i", "n", "!"]
    clicked = [a["target"]["id"] for a in actions if a["type"] == "click" and a["target"]["id"] != "size"]
    assert clicked == ["name", "paste", "file", "more", "inner", "name", "order"]
    assert all((session.run.screenshots / a["screenshot"]).exists() for a in actions)


async def _first(session: Any, name: str) -> Any:
    async with asyncio.timeout(15):
        async for event in session.session.events():
            if event.event == name:
                return event
    raise AssertionError(f"no {name}")
