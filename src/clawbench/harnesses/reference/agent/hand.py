"""Acting on an element as a user would: with the mouse and the keyboard, where it can be seen."""

from __future__ import annotations

import asyncio
from typing import Any

from . import elements
from .browser import Browser, Session
from .cdp import CdpError
from .keys import NAMED, SELECT_ALL, events_of
from .reading import Element
from .tools import ToolError

KEYED_CHARS = 1_500
"""A longer text is typed to here and then inserted at once."""


class Hand:
    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    async def ask(self, element: Element, function: str, *arguments: Any) -> Any:
        """Call a function of the page on the element; a `problem` in its answer is an error."""
        try:
            answer = await self._browser.call(
                "Runtime.callFunctionOn",
                {
                    "objectId": element.object_id,
                    "functionDeclaration": function,
                    "arguments": [{"value": argument} for argument in arguments],
                    "returnByValue": True,
                },
                element.session,
            )
        except CdpError:
            raise ToolError(f"{element} is no longer on the page; call browser_read again") from None
        if "exceptionDetails" in answer:
            raise ToolError(f"{element}: {answer['exceptionDetails'].get('text')}")
        value = answer["result"].get("value")
        if isinstance(value, dict) and value.get("problem"):
            raise ToolError(f"{element} {value['problem']}")
        return value

    async def click(self, element: Element) -> None:
        """Press and release the mouse in the middle of the element, once nothing covers it."""
        point = await self.ask(element, elements.POINT)
        x, y = await self._on_page(element, point["x"], point["y"])
        tab = self._browser.tab.session
        for kind, more in (
            ("mouseMoved", {"button": "none"}),
            ("mousePressed", {"button": "left", "buttons": 1, "clickCount": 1}),
            ("mouseReleased", {"button": "left", "clickCount": 1}),
        ):
            await self._browser.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more}, tab)

    async def _on_page(self, element: Element, x: float, y: float) -> tuple[float, float]:
        """A point within a frame of another site as a point of the whole tab."""
        frame, session = element.frame_id, element.session
        while frame != self._browser.tab.session.target_id:
            owner_session: Session = session
            if frame == session.target_id and session.parent is not None:
                owner_session = session.parent
            owner = await self._browser.call("DOM.getFrameOwner", {"frameId": frame}, owner_session)
            box = await self._browser.call(
                "DOM.getBoxModel", {"backendNodeId": owner["backendNodeId"]}, owner_session
            )
            x, y = x + box["model"]["content"][0], y + box["model"]["content"][1]
            frame, session = owner_session.target_id, owner_session
        return x, y

    async def type(self, element: Element, text: str, *, clear: bool) -> str:
        """Type into the field, key by key; returns what the field then holds."""
        field = await self.ask(element, elements.FIELD)
        if field["picked"]:
            await self.ask(element, elements.SET_VALUE, text)
        else:
            await self.click(element)
            if clear and field["value"]:
                await self._keys(SELECT_ALL)
                await self.press("Backspace")
            await self._keys([event for character in text[:KEYED_CHARS] for event in events_of(character)])
            if text[KEYED_CHARS:]:
                await self._browser.call("Input.insertText", {"text": text[KEYED_CHARS:]})
        after = await self.ask(element, elements.FIELD)
        return "•" * len(text) if after["kind"] == "password" else str(after["value"])

    async def press(self, name: str) -> None:
        key = NAMED[name]
        released = {field: value for field, value in key.items() if field != "text"}
        await self._keys([{"type": "keyDown", **key}, {"type": "keyUp", **released}])

    async def _keys(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            await self._browser.call("Input.dispatchKeyEvent", event)

    async def wheel(self, x: float, y: float, delta: float) -> None:
        await self._browser.call(
            "Input.dispatchMouseEvent",
            {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta},
        )

    async def upload(self, element: Element, path: str) -> None:
        """Put the file into a file field, or into the one that a click on this element asks to fill."""
        if await self.ask(element, elements.IS_FILE_INPUT):
            where: dict[str, Any] = {"objectId": element.object_id}
            session = element.session
        else:
            tab = self._browser.tab
            session = tab.session
            tab.file_chooser = asyncio.get_running_loop().create_future()
            try:
                await self.click(element)
                async with asyncio.timeout(5):
                    where = {"backendNodeId": (await tab.file_chooser)["backendNodeId"]}
            except TimeoutError:
                raise ToolError(f"{element} did not ask for a file") from None
            finally:
                tab.file_chooser = None
        await self._browser.call("DOM.setFileInputFiles", {"files": [path], **where}, session)
