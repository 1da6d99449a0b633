"""Watching over the processes of a session: whoever ends unasked is named, with what ended it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from clawbench.environments.browser.display import Display
from clawbench.environments.browser.launch import Browser
from clawbench.sandbox import Ended

MOMENT_S = 2.0
"""A browser that ends closes its connection first, and is gone well within this time."""


def keep_vigil(
    browser: Browser, display: Display, *, gone: Callable[[str], None], failed: Callable[[str], None]
) -> Callable[[], None]:
    """Tell of the end of the browser or its display; returns what ends the watch."""
    watches: list[Coroutine[Any, Any, None]] = [_over_display(display, gone), _over(browser, gone, failed)]
    tasks = [asyncio.ensure_future(watch) for watch in watches]

    def end() -> None:
        for task in tasks:
            task.cancel()

    return end


async def _over_display(display: Display, gone: Callable[[str], None]) -> None:
    ended = await display.process.wait()
    gone(f"The browser's display (Xvfb) {in_words(ended)}.")


async def _over(browser: Browser, gone: Callable[[str], None], failed: Callable[[str], None]) -> None:
    await browser.cdp.closed.wait()
    if browser.cdp.lost_by is not None:
        failed(browser.cdp.lost_by)
        return
    try:
        ended = await asyncio.wait_for(browser.process.wait(), MOMENT_S)
    except TimeoutError:
        failed("The connection to the browser was cut while it was running.")
    else:
        gone(f"The browser {in_words(ended)}.")


def in_words(ended: Ended) -> str:
    if ended.limit is not None:
        return f"went over its limit of {ended.limit}"
    if ended.exit_code < 0:
        return f"was ended by {signal.Signals(-ended.exit_code).name}"
    return f"ended by itself with code {ended.exit_code}"


CLOSED = f"The browser {in_words(Ended(exit_code=0))}."
"""What is told of a browser whose last window was closed."""
