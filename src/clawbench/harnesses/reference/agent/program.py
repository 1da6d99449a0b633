"""The program: settings in, tools by kind of task, the loop, a result in every case."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from .browser import Browser
from .cdp import BrowserGone
from .chat import Chat, ModelError
from .files import Files
from .loop import Loop
from .settings import Settings, gateway_from_environment, load
from .shell import Shell
from .tools import Tool
from .transcript import Result
from .web import WebTools
from .web_schema import web_tools

SYSTEM = {
    "web": (
        "You act for a person in a real web browser, through tools. Read the page before you act on it, and "
        "read it again after it changed. Fill in exactly what was asked for, check the page before the final "
        "step, and do the final step yourself: nobody will confirm it for you. Files named in the task can "
        "be read with `read` and `list`. When the task is done, or cannot be done, call `finish`."
    ),
    "coding": (
        "You are a software engineer working in a repository, through tools. Find out how the code works "
        "before you change it, make the smallest change that resolves the task, and run the tests that "
        "show it. When the work is done, call `finish`."
    ),
}


def main() -> int:
    home = Path(os.environ["HOME"])
    return asyncio.run(_run(home, load(home)))


async def _run(home: Path, settings: Settings) -> int:
    chat = Chat(gateway_from_environment(), {"model": settings.model, **settings.request})
    loop: Loop | None = None
    reason, detail, code = "error", "", 1
    try:
        async with asyncio.timeout(settings.time_limit_s), _tools(settings) as (tools, browser):
            loop = Loop(home, chat, tools, settings.max_turns)
            reason = await _until_browser_ends(loop.run(SYSTEM[settings.kind], settings.prompt), browser)
            code = 0
    except TimeoutError:
        reason, detail, code = "time_limit", f"{settings.time_limit_s:g} s are over", 0
    except ModelError as error:
        reason, detail = "model_error", str(error)
    except BrowserGone as error:
        detail, code = str(error), 0
    except Exception as error:
        detail = repr(error)
        traceback.print_exc()
    _save(home, loop, reason, detail)
    return code


@asynccontextmanager
async def _tools(settings: Settings) -> AsyncIterator[tuple[list[Tool], Browser | None]]:
    files = Files(Path(settings.workspace))
    if settings.cdp_url is None:
        shell = Shell(Path(settings.workspace))
        yield [shell.tool(), *files.reading_tools(), *files.writing_tools()], None
        return
    browser = await Browser.connect(settings.cdp_url)
    try:
        yield [*web_tools(WebTools(browser)), *files.reading_tools()], browser
    finally:
        await browser.close()


async def _until_browser_ends(work: Coroutine[Any, Any, str], browser: Browser | None) -> str:
    """The work's outcome; without a browser there is nothing left to do, so its end is ours."""
    conversation = asyncio.create_task(work)
    watched: set[asyncio.Task[Any]] = {conversation}
    if browser is not None:
        watched.add(asyncio.create_task(browser.ended()))
    try:
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        if not conversation.done():
            raise BrowserGone("the connection to the browser has ended")
        return conversation.result()
    finally:
        for task in watched:
            task.cancel()
        await asyncio.gather(*watched, return_exceptions=True)


def _save(home: Path, loop: Loop | None, reason: str, detail: str) -> None:
    result = loop.result if loop else Result()
    result.finish_reason, result.detail = reason, detail
    result.save(home)
    if loop:
        loop.close()
    print(f"{reason}: {result.turns} turns, {result.tool_calls} tool calls. {detail}", flush=True)
