"""Another program over the same browser: it clicks, types and scrolls at random, and asks no model."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .browser import Browser
from .cdp import BrowserGone
from .settings import FILE
from .tools import ToolError
from .transcript import Result, Transcript
from .web import SCROLL_BY, WebTools

_ADDRESS = re.compile(r"https?://[^\s<>\"'”»)\]]+")
_ELEMENT = re.compile(r"^\[(?P<number>\d+)\] (?P<role>\w+)(?P<rest>.*)$", re.MULTILINE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WRITTEN_IN = ("textbox", "searchbox", "combobox", "spinbutton")
_WORDS = ("tea", "green", "Alex", "2", "2026-11-14", "alex.green@example.com", "10115", "yes", "hello")
_RETURNS = 0.04
_SCROLLS = 0.15

Act = tuple[str, dict[str, Any]]
"""A browser tool and its arguments."""


@dataclass(frozen=True)
class Settings:
    prompt: str
    cdp_url: str
    seed: int
    actions: int
    time_limit_s: float


def main() -> int:
    home = Path(os.environ["HOME"])
    settings = Settings(**json.loads((home / FILE).read_text(encoding="utf-8")))
    return asyncio.run(_run(home, settings))


async def _run(home: Path, settings: Settings) -> int:
    result, code = Result(finish_reason="error"), 0
    try:
        async with asyncio.timeout(settings.time_limit_s):
            browser = await Browser.connect(settings.cdp_url)
            await Wanderer(browser, settings, Transcript(home), result).wander()
            result.finish_reason = "stop"
    except TimeoutError:
        result.finish_reason = "time_limit"
    except BrowserGone as error:
        result.detail = str(error)
    except Exception as error:
        result.detail, code = repr(error), 1
        traceback.print_exc()
    result.save(home)
    return code


def start_of(prompt: str) -> str | None:
    """The first address that the task names."""
    found = _ADDRESS.search(prompt)
    return found[0].rstrip(".,;:!?") if found else None


def choose(chance: random.Random, reading: str, start: str) -> Act:
    """What to do with a page that reads like this."""
    elements = list(_ELEMENT.finditer(reading))
    drawn = chance.random()
    if drawn < _RETURNS or (not elements and drawn < 0.5):
        return "open", {"url": start}
    if drawn < _RETURNS + _SCROLLS or not elements:
        return "scroll", {"direction": chance.choice(list(SCROLL_BY))}
    element = chance.choice(elements)
    number = int(element["number"])
    if element["role"] in _WRITTEN_IN:
        submit = chance.random() < 0.2
        return "type", {"element": number, "text": chance.choice(_WORDS), "submit": submit}
    options = _QUOTED.findall(element["rest"].partition("options: ")[2])
    if element["role"] == "select" and options:
        return "select", {"element": number, "value": chance.choice(options)}
    return "click", {"element": number}


class Wanderer:
    def __init__(self, browser: Browser, settings: Settings, transcript: Transcript, result: Result) -> None:
        self._web, self._settings = WebTools(browser), settings
        self._transcript, self._result = transcript, result
        self._chance = random.Random(settings.seed)

    async def wander(self) -> None:
        start = start_of(self._settings.prompt)
        if start is None:
            self._result.answer = "The task names no address to begin at."
            return
        await self._do("open", {"url": start})
        while self._result.tool_calls < self._settings.actions:
            await self._do(*choose(self._chance, await self._read(), start))
        self._result.answer = f"{self._result.tool_calls} actions at random."

    async def _read(self) -> str:
        try:
            return await self._web.read()
        except ToolError:
            return ""

    async def _do(self, action: str, arguments: dict[str, Any]) -> None:
        self._result.tool_calls += 1
        try:
            said = await getattr(self._web, action)(**arguments)
        except ToolError as error:
            said = f"error: {error}"
        self._transcript.add({"action": action, "arguments": arguments, "result": said.partition("\n")[0]})
