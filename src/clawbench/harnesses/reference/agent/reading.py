"""Reading the page in front: its text and its numbered elements, frames of other sites included."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .browser import Browser, Session
from .cdp import CdpError
from .elements import READ
from .text import parts_of
from .tools import ToolError

GROUP = "reading"


@dataclass(frozen=True)
class Element:
    """A numbered element of the last reading."""

    number: int
    label: str
    object_id: str
    session: Session
    frame_id: str
    """The topmost frame that it was read through."""

    def __str__(self) -> str:
        return f"[{self.number}] {self.label}"


class Reader:
    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._elements: dict[int, Element] = {}

    def element(self, number: int) -> Element:
        if number not in self._elements:
            raise ToolError(f"there is no element [{number}] in the last reading; call browser_read first")
        return self._elements[number]

    async def read(self, part: int = 1) -> str:
        """Number the elements anew and return that part of the page."""
        tab = await self._browser.current_tab()
        self._elements = {}
        main = await self._read_frame(tab.session, tab.session.target_id, None)
        if main is None:
            raise ToolError("the page is changing just now; call browser_read again")
        head = [f"url: {main['url']}", f"title: {main['title']}", f"visible: {main['seen']}", ""]
        lines = [*main["lines"], *await self._read_other_frames(tab.sessions(), tab.session.target_id)]
        parts = parts_of(lines)
        if not 1 <= part <= len(parts):
            raise ToolError(f"the page has {len(parts)} parts")
        if len(parts) > 1:
            head[-1:] = [f"part {part} of {len(parts)}; browser_read(part=…) shows the others", ""]
        return "\n".join([*head, parts[part - 1]])

    async def _read_other_frames(self, sessions: list[Session], main_frame: str) -> list[str]:
        lines: list[str] = []
        for session in sessions:
            for context, frame in list(session.contexts.items()):
                if frame == main_frame:
                    continue
                content = await self._read_frame(session, frame, context)
                if content is not None and content["lines"]:
                    lines += [f"(frame {content['url'][:100]})", *content["lines"], "(end of frame)"]
        return lines

    async def _read_frame(
        self, session: Session, frame_id: str, context: int | None
    ) -> dict[str, Any] | None:
        start = len(self._elements) + 1
        expression = f"({READ})({start}, {json.dumps(context is None)})"
        where = {} if context is None else {"contextId": context}
        try:
            answer = await self._browser.call(
                "Runtime.evaluate", {"expression": expression, "objectGroup": GROUP, **where}, session
            )
            if "exceptionDetails" in answer:
                raise ToolError(f"the page cannot be read: {answer['exceptionDetails']}")
            if "objectId" not in answer["result"]:
                return None
            listing = await self._browser.call(
                "Runtime.getProperties",
                {"objectId": answer["result"]["objectId"], "ownProperties": True},
                session,
            )
        except CdpError:
            return None  # navigated away between the two
        values = {entry["name"]: entry.get("value", {}) for entry in listing["result"]}
        content: dict[str, Any] = json.loads(values["0"]["value"])
        for index, label in enumerate(content["labels"]):
            number = start + index
            object_id = values[str(index + 1)]["objectId"]
            self._elements[number] = Element(number, label, object_id, session, frame_id)
        return content
