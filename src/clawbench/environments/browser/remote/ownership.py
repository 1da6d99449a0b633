"""Whose frame is this? A paused request names its frame or worker, not its browser context."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from clawbench.environments.browser.cdp import Message
from clawbench.environments.browser.remote.scope import belongs

Ask = Callable[[str, dict[str, Any], str | None], asyncio.Future[Message]]
"""Sends a command and promises the whole reply."""

ANSWER_WITHIN_S = 5.0


class Ownership:
    """Remembers what is known of frames and targets, and asks the browser about the others.

    What cannot be proved to be somebody else's counts as ours: a frame may be gone before it is asked for.
    """

    def __init__(self, ask: Ask) -> None:
        self.context = ""
        self.pages: dict[str, str] = {}
        """Our sessions on pages of the context -> target."""
        self.questioned: set[str] = set()
        """Pages of others to which a session is open for a question."""
        self._ask = ask
        self._known: dict[str, bool] = {}
        self._questioning = asyncio.Lock()

    def of(self, frame: str) -> bool | None:
        """Whether it is ours; None where that is not known."""
        return self._known.get(frame)

    def learn(self, frame: str, *, ours: bool) -> None:
        self._known[frame] = ours

    async def find(self, frame: str) -> bool:
        """Ask whose it is; the browser's main process answers, however busy its pages are."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                ours = await self._find(frame)
        except TimeoutError:
            return True
        self.learn(frame, ours=ours)
        return ours

    async def _find(self, frame: str) -> bool:
        told = self._ask("Target.getTargetInfo", {"targetId": frame}, None)
        in_ours = [self._ask_page(session, frame) for session in self.pages]
        info = (await told).get("result", {}).get("targetInfo")
        if info is not None:
            return belongs(info, self.context)
        if any("result" in reply for reply in await asyncio.gather(*in_ours)):
            return True
        async with self._questioning:
            return not await self._is_of_others(frame)

    async def _is_of_others(self, frame: str) -> bool:
        reply = await self._ask("Target.getTargets", {}, None)
        targets = reply.get("result", {}).get("targetInfos", [])
        others = [one for one in targets if one["type"] == "page" and not belongs(one, self.context)]
        return any(await asyncio.gather(*(self._question(one["targetId"], frame) for one in others)))

    async def _question(self, target: str, frame: str) -> bool:
        """Ask a page of others, on a session that listens to nothing and is closed at once."""
        self.questioned.add(target)
        try:
            reply = await self._ask("Target.attachToTarget", {"targetId": target, "flatten": True}, None)
            if "result" not in reply:
                return False
            session = reply["result"]["sessionId"]
            answer = await self._ask_page(session, frame)
            self._ask("Target.detachFromTarget", {"sessionId": session}, None)
            return "result" in answer
        finally:
            self.questioned.discard(target)

    def _ask_page(self, session: str, frame: str) -> asyncio.Future[Message]:
        """Ask whether a page has this frame; an error says no."""
        return self._ask("Storage.getStorageKeyForFrame", {"frameId": frame}, session)
