"""300 actions, one awaited after the other, as an agent does them."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from pathlib import Path

from bench.browser.driver import Page, first_page
from bench.browser.subjects import HOST, Subject

ACTIONS = 300
PLAYWRIGHT = "playwright==1.65.0"
VENV = Path(__file__).resolve().parents[3] / ".clawbench" / "bench"
SCRIPT = Path(__file__).with_name("act_with_playwright.py")
URL = f"http://{HOST}/actions"


async def playwright_python() -> Path | None:
    """A Python with Playwright in an environment of its own; None where it cannot be installed."""
    python = VENV / "bin" / "python"
    if await _succeeds(str(python), "-c", "import playwright"):
        return python
    uv = shutil.which("uv") or str(VENV.parent / "bootstrap" / "bin" / "uv")
    made = await _succeeds(uv, "venv", "-q", "--clear", "--python", sys.executable, str(VENV))
    if made and await _succeeds(uv, "pip", "install", "-q", "--python", str(python), PLAYWRIGHT):
        return python
    return None


async def act(subject: Subject, playwright: Path | None) -> float:
    """Seconds that the actions took."""
    if playwright is None:
        async with first_page(subject.endpoint) as page:
            return await _act_raw(page)
    process = await asyncio.create_subprocess_exec(
        *(str(playwright), str(SCRIPT), subject.endpoint, URL, str(ACTIONS)),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    return float(json.loads(said)["seconds"])


async def _act_raw(page: Page) -> float:
    """The commands that Playwright sends for a click and a key, without its wait for stable elements."""
    await page.open(URL)
    began = time.perf_counter()
    for number in range(ACTIONS):
        if number % 3 == 2:
            key = {"key": "a", "text": "a", "code": "KeyA"}
            await page.send("Input.dispatchKeyEvent", type="keyDown", **key)
            await page.send("Input.dispatchKeyEvent", type="keyUp", **key)
        else:
            await _click(page, "#count" if number % 3 == 0 else "#text")
    return time.perf_counter() - began


async def _click(page: Page, selector: str) -> None:
    box = f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('{selector}')"
    x, y = await page.evaluate(f"{box}.getBoundingClientRect())")
    mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
    await page.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    await page.send("Input.dispatchMouseEvent", type="mousePressed", **mouse)
    await page.send("Input.dispatchMouseEvent", type="mouseReleased", **mouse)


async def _succeeds(*command: str) -> bool:
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
    except OSError:
        return False
    return await process.wait() == 0
