"""A person with a browser of their own: a second, headless Chromium that opens a view's address."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.pipe import PipeTransport

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=1500,900",
)
NAMED = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
    "Backspace": ("Backspace", 8, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
}
ALT, CONTROL = 1, 2
MODIFIERS = {ALT: "Alt", CONTROL: "Control"}
LOOK = """(() => {
  const pixels = document.querySelector('#screen canvas').getContext('2d').getImageData(%d, %d, %d, %d).data;
  return String(pixels.reduce((sum, value) => (sum * 31 + value) %% 4294967291, 7));
})()"""
BUTTON = """(() => {
  const found = [...document.querySelectorAll('%s')].find((one) => one.textContent.includes('%s'));
  found?.click();
  return Boolean(found);
})()"""


class Page:
    """One tab of the person's browser."""

    def __init__(self, cdp: CdpConnection, target: str, session: str) -> None:
        self._cdp, self._target, self._session = cdp, target, session

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._cdp.send(method, params, session=self._session)

    async def run(self, code: str) -> Any:
        result = await self.send(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True, userGesture=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def until(self, code: str, within_s: float = 20) -> Any:
        """Wait until an expression is true in the page."""
        deadline = asyncio.get_running_loop().time() + within_s
        while not (value := await self.run(code)):
            text = await self.run("document.body.innerText.slice(0, 500)")
            assert asyncio.get_running_loop().time() < deadline, f"never true: {code}; the page says {text!r}"
            await asyncio.sleep(0.05)
        return value

    async def connected(self) -> None:
        """Wait until the screen is shown."""
        await self.until(
            "document.querySelector('#mode.live') && document.querySelector('#screen canvas').width"
        )

    async def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the recorded screen is in this page."""
        left, top, scale = await self.run(
            "(() => { const c = document.querySelector('#screen canvas'), r = c.getBoundingClientRect();"
            " return [r.left, r.top, r.width / c.width] })()"
        )
        return left + x * scale, top + y * scale

    async def click(self, x: float, y: float) -> None:
        """Click on a point of the recorded screen."""
        left, top = await self.at(x, y)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            await self.send("Input.dispatchMouseEvent", type=kind, x=left, y=top, **button)

    async def looks(self, x: int, y: int, width: int, height: int) -> str:
        """What a part of the recorded screen looks like to the person."""
        seen: str = await self.run(LOOK % (x, y, width, height))
        return seen

    async def until_looks_other(self, than: str, x: int, y: int, width: int, height: int) -> None:
        await self.until(f"{LOOK % (x, y, width, height)} != '{than}'")

    async def press_button(self, css: str, text: str) -> None:
        """Press a button of the page itself, once it is there."""
        await self.until(BUTTON % (css, text))

    async def type(self, text: str) -> None:
        for letter in text:
            code = f"Key{letter.upper()}" if letter.isalpha() and letter.isascii() else ""
            await self._key(letter, code, ord(letter.upper()) if code else 0, letter)

    async def press(self, key: str, modifier: int = 0) -> None:
        if not modifier:
            await self._key(key, *NAMED[key])
            return
        held = {"key": MODIFIERS[modifier], "code": f"{MODIFIERS[modifier]}Left"}
        await self.send("Input.dispatchKeyEvent", type="rawKeyDown", **held)
        await self._key(key, f"Key{key.upper()}", ord(key.upper()), "", modifier)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **held)

    async def _key(self, key: str, code: str, number: int, text: str, modifiers: int = 0) -> None:
        same = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        kind = "keyDown" if text else "rawKeyDown"
        await self.send("Input.dispatchKeyEvent", type=kind, text=text, **same)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **same)

    async def picture(self, path: Path) -> None:
        shot = await self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def status(self) -> int:
        """HTTP status of the document."""
        found: int = await self.run("performance.getEntriesByType('navigation')[0].responseStatus")
        return found

    async def close(self) -> None:
        await self._cdp.send("Target.closeTarget", {"targetId": self._target})


class Person:
    """Somebody at their own computer."""

    def __init__(self, cdp: CdpConnection) -> None:
        self._cdp = cdp

    async def open(self, url: str) -> Page:
        """Open a tab and wait until it has loaded."""
        target = (await self._cdp.send("Target.createTarget", {"url": "about:blank"}))["targetId"]
        attached = await self._cdp.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        page = Page(self._cdp, target, attached["sessionId"])
        loaded = asyncio.Event()
        remove = self._cdp.on(
            "Page.loadEventFired", lambda _params, session: loaded.set() if session == page._session else None
        )
        await page.send("Page.enable")
        await page.send("Page.navigate", url=url)
        await asyncio.wait_for(loaded.wait(), 20)
        remove()
        return page


@asynccontextmanager
async def person(browser: str, profile: Path) -> AsyncIterator[Person]:
    """A browser with an empty profile."""
    to_browser, our_write = os.pipe()
    our_read, from_browser = os.pipe()
    # The browser finds the pipe on descriptors 3 and 4.
    script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script, "bash", browser, *FLAGS, f"--user-data-dir={profile}", "about:blank"),
        pass_fds=(to_browser, from_browser),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    cdp = CdpConnection(PipeTransport(our_read, our_write))
    try:
        await cdp.send("Browser.getVersion")
        yield Person(cdp)
    finally:
        cdp.close()
        await process.wait()
