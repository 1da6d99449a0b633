"""Reading the recorded browser over the session's relay: where things are, and what they hold."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import unix_connect

ON_SCREEN = """(() => {
  const box = document.querySelector(%s)?.getBoundingClientRect();
  return box?.width && [
    screenX + box.left + box.width / 2,
    screenY + outerHeight - innerHeight + box.top + box.height / 2,
  ];
})()"""


class Recorded:
    """The recorded browser behind a relay's socket."""

    def __init__(self, relay: Path) -> None:
        self._relay = relay

    async def pages(self) -> list[dict[str, Any]]:
        transport = httpx.AsyncHTTPTransport(uds=str(self._relay))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            listed: list[dict[str, Any]] = (await client.get("/json/list")).json()
        return listed

    async def run(self, code: str, url: str = "") -> Any:
        """What JavaScript comes to in the first page whose address contains `url`."""
        found = [page for page in await self.pages() if url in page["url"]]
        if not found:
            return None
        address = f"ws://localhost{urlsplit(found[0]['webSocketDebuggerUrl']).path}"
        async with unix_connect(str(self._relay), address, compression=None) as socket:
            asked = {"expression": code, "returnByValue": True}
            await socket.send(json.dumps({"id": 1, "method": "Runtime.evaluate", "params": asked}))
            async for text in socket:
                if (message := json.loads(text)).get("id") == 1:
                    return message["result"]["result"].get("value")
        return None

    async def until(self, code: str, url: str = "", within_s: float = 20) -> Any:
        deadline = asyncio.get_running_loop().time() + within_s
        while not (value := await self.run(code, url)):
            assert asyncio.get_running_loop().time() < deadline, f"never true: {code} at {url}"
            await asyncio.sleep(0.05)
        return value

    async def where(self, css: str, url: str = "") -> tuple[float, float]:
        """The middle of an element, in pixels of the screen, once it is there and stands still."""
        before = None
        while (found := await self.until(ON_SCREEN % json.dumps(css), url)) != before:
            before = found
            await asyncio.sleep(0.1)
        x, y = found
        return x, y

    async def until_value(self, css: str, value: str, url: str = "", within_s: float = 20) -> None:
        """Wait until a field holds exactly that."""
        deadline = asyncio.get_running_loop().time() + within_s
        while (now := await self.run(f"document.querySelector({json.dumps(css)})?.value", url)) != value:
            assert asyncio.get_running_loop().time() < deadline, f"{css} holds {now!r}, not {value!r}"
            await asyncio.sleep(0.05)
