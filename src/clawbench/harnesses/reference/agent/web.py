"""The browser tools."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import elements
from .browser import Browser
from .hand import Hand
from .reading import Reader
from .tools import ToolError

LOAD_WITHIN_S = 20.0
LONGEST_WAIT_S = 60.0
SCROLL_BY = {"down": 700.0, "up": -700.0, "bottom": 1_000_000.0, "top": -1_000_000.0}


@dataclass(frozen=True)
class _Place:
    session: str
    document: str = ""
    """Differs for every document and, within one, for every path."""
    text: str = ""
    said: Sequence[str] = ()
    """What the page announces: alerts and status lines."""


class WebTools:
    """Each tool says what it did, where the tab is now, and what happened meanwhile.

    A tool after which another page is shown returns that page's reading too.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._reader = Reader(browser)
        self._hand = Hand(browser)

    async def open(self, url: str) -> str:
        if "://" not in url and not url.startswith("about:"):
            url = f"http://{url}"
        await self._browser.current_tab()
        answer = await self._browser.call("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise ToolError(f"{url} could not be opened: {answer['errorText']}")
        await self._browser.settle(LOAD_WITHIN_S)
        return await self._with_reading(f"opened {url}")

    async def read(self, part: int = 1) -> str:
        return self._with_notices(await self._reader.read(part))

    async def click(self, element: int) -> str:
        target = self._reader.element(element)
        before = await self._place()
        await self._hand.click(target)
        return await self._afterwards(f"clicked {target}", before)

    async def type(self, element: int, text: str, clear: bool = True, submit: bool = False) -> str:
        target = self._reader.element(element)
        before = await self._place()
        value = await self._hand.type(target, text, clear=clear)
        done = f"typed into {target}; it now holds {json.dumps(value, ensure_ascii=False)}"
        if submit:
            await self._hand.press("Enter")
            done += "; pressed Enter"
        return await self._afterwards(done, before)

    async def select(self, element: int, value: str) -> str:
        target = self._reader.element(element)
        before = await self._place()
        chosen = (await self._hand.ask(target, elements.SELECT, value))["chosen"]
        return await self._afterwards(f"chose {json.dumps(chosen, ensure_ascii=False)} in {target}", before)

    async def upload(self, element: int, path: str) -> str:
        target = self._reader.element(element)
        if not Path(path).is_file():
            raise ToolError(f"there is no file {path}")
        before = await self._place()
        await self._hand.upload(target, path)
        return await self._afterwards(f"gave {path} to {target}", before)

    async def scroll(self, direction: str) -> str:
        if direction not in SCROLL_BY:
            raise ToolError(f"direction must be one of {', '.join(SCROLL_BY)}")
        size = await self._evaluate("({x: innerWidth / 2, y: innerHeight / 2})")
        await self._hand.wheel(size["x"], size["y"], SCROLL_BY[direction])
        await self._browser.settle(2.0)
        seen = await self._evaluate("[scrollY, scrollY + innerHeight, document.documentElement.scrollHeight]")
        visible = "{:.0f}–{:.0f} of {:.0f} px".format(*seen)
        return self._with_notices(f"scrolled {direction}; visible now: {visible}")

    async def wait(self, seconds: float | None = None, text: str | None = None) -> str:
        limit = min(max(seconds if seconds is not None else 10.0, 0.0), LONGEST_WAIT_S)
        before = await self._place()
        if text is None:
            await asyncio.sleep(limit)
            return await self._afterwards(f"waited {limit:g} s", before)
        found = await self._text_appears(text, limit)
        return await self._afterwards(f"{text!r} {'is on the page' if found else 'did not appear'}", before)

    async def _text_appears(self, text: str, limit_s: float) -> bool:
        deadline = time.monotonic() + limit_s
        while (left := deadline - time.monotonic()) > 0:
            wanted = f"({elements.WAIT_FOR_TEXT})({json.dumps(text)}, {left * 1000:.0f})"
            try:
                async with asyncio.timeout(left + 1):
                    return bool(await self._evaluate(wanted))
            except (ToolError, TimeoutError):
                await self._browser.settle(left)  # the page navigated: look again on the new one
        return False

    async def _afterwards(self, done: str, before: _Place) -> str:
        await self._browser.settle()
        after = await self._place()
        if (after.session, after.document) != (before.session, before.document):
            return await self._with_reading(done)
        news = [f"the page says: {said}" for said in after.said if said not in before.said]
        return self._with_notices("\n".join([done, *news, after.text]))

    async def _place(self) -> _Place:
        session = self._browser.tab.session.id
        try:
            return _Place(session, **await self._evaluate(elements.PLACE))
        except ToolError:
            return _Place(session)  # between two documents

    async def _with_reading(self, done: str) -> str:
        try:
            reading = await self._reader.read()
        except ToolError as error:
            reading = str(error)
        return self._with_notices(f"{done}\n\n{reading}")

    def _with_notices(self, text: str) -> str:
        notices, self._browser.notices[:] = list(self._browser.notices), []
        return "\n".join([*(f"note: {notice}" for notice in notices), text])

    async def _evaluate(self, expression: str) -> Any:
        answer = await self._browser.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True}
        )
        if "exceptionDetails" in answer:
            raise ToolError(f"the page failed: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")
