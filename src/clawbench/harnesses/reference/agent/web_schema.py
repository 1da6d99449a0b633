"""How the browser tools are described to the model."""

from __future__ import annotations

from typing import Any

from .tools import Tool
from .web import LONGEST_WAIT_S, SCROLL_BY, WebTools

TEXT: dict[str, Any] = {"type": "string"}
FLAG: dict[str, Any] = {"type": "boolean"}
ELEMENT: dict[str, Any] = {"type": "integer", "description": "number of the element in the last reading"}


def web_tools(web: WebTools) -> list[Tool]:
    return [*_seeing(web), *_acting(web)]


def _seeing(web: WebTools) -> list[Tool]:
    return [
        Tool(
            "browser_open", "Open an address in the tab and read the page.", web.open, {"url": TEXT}, ["url"]
        ),
        Tool(
            "browser_read",
            "Read the page in front: its text and its elements, numbered anew. "
            "Numbers hold until the next reading. A long page comes in parts.",
            web.read,
            {"part": {"type": "integer", "description": "which part, from 1"}},
        ),
        Tool(
            "browser_scroll",
            "Scroll the page; needed only where a page loads more on scrolling.",
            web.scroll,
            {"direction": {"type": "string", "enum": list(SCROLL_BY)}},
            ["direction"],
        ),
        Tool(
            "browser_wait",
            "Wait until a text appears on the page, at most `seconds` "
            f"(default 10, at most {LONGEST_WAIT_S:g}); without a text wait that long.",
            web.wait,
            {"seconds": {"type": "number"}, "text": TEXT},
        ),
    ]


def _acting(web: WebTools) -> list[Tool]:
    return [
        Tool("browser_click", "Click an element.", web.click, {"element": ELEMENT}, ["element"]),
        Tool(
            "browser_type",
            "Type a text into a field, key by key. `clear` (default true) empties it first, `submit` presses "
            "Enter afterwards. Dates are given as YYYY-MM-DD, times as HH:MM.",
            web.type,
            {"element": ELEMENT, "text": TEXT, "clear": FLAG, "submit": FLAG},
            ["element", "text"],
        ),
        Tool(
            "browser_select",
            "Choose an option of a select element by its text or value.",
            web.select,
            {"element": ELEMENT, "value": TEXT},
            ["element", "value"],
        ),
        Tool(
            "browser_upload",
            "Give a file to a file field, or to a button that asks for a file.",
            web.upload,
            {"element": ELEMENT, "path": TEXT},
            ["element", "path"],
        ),
    ]
