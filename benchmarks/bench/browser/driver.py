"""A small CDP client for measuring inside a page."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

ANSWER_WITHIN_S = 120.0


class Page:
    """The first page of a browser; one awaited command after the other."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._numbers = socket, itertools.count(1)

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while (message := json.loads(await self._socket.recv())).get("id") != number:
                pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    async def evaluate(self, expression: str) -> Any:
        answer = await self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    async def open(self, url: str) -> None:
        """Navigate and wait for the load event."""
        await self.send("Page.enable")
        await self.send("Page.navigate", url=url)
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while json.loads(await self._socket.recv()).get("method") != "Page.loadEventFired":
                pass


@asynccontextmanager
async def first_page(endpoint: str) -> AsyncIterator[Page]:
    async with httpx.AsyncClient() as client:
        targets = (await client.get(f"{endpoint}/json/list")).json()
    address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
    async with connect(address, max_size=None, compression=None, proxy=None) as socket:
        yield Page(socket)
