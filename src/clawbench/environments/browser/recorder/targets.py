"""Attaching to everything the browser opens: pages, frames in other processes, popups and workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, CdpError

AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
OF_THE_BROWSER_ITSELF = frozenset({"browser_ui", "browser"})
"""Its own bars and bubbles, which no web page reaches."""
WITH_DOCUMENTS = frozenset({"page", "iframe", "webview"})
ATTACH_WITHIN_S = 10.0


class Targets:
    """Follows every target from its first instruction on; each is prepared, then let go."""

    def __init__(
        self,
        cdp: CdpConnection,
        prepare: Callable[[str, str], None],
        left: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`prepare` is given a session on each target and what it is, `left` each target that has ended."""
        self._cdp, self._prepare, self._left = cdp, prepare, left
        self._first_sessions: dict[str, str] = {}
        """Target -> the session that records it; a worker may be attached by more than one parent."""
        self._starting: set[asyncio.Future[dict[str, Any]]] = set()

    @property
    def sessions(self) -> list[str]:
        """Of all that is open."""
        return list(self._first_sessions.values())

    def recorded_by(self, session: str | None) -> str | None:
        """The target that this session records."""
        return next((target for target, one in self._first_sessions.items() if one == session), None)

    async def start(self) -> None:
        """Attach to all there is and will be; returns when what there is is prepared."""
        self._cdp.on("Target.attachedToTarget", self._attached)
        self._cdp.on("Target.detachedFromTarget", self._detached)
        await self._cdp.send("Target.setAutoAttach", AUTO_ATTACH)
        if self._starting:
            await asyncio.wait(self._starting, timeout=ATTACH_WITHIN_S)

    def _attached(self, params: dict[str, Any], parent: str | None) -> None:
        session, info = params["sessionId"], params["targetInfo"]
        if info["type"] not in OF_THE_BROWSER_ITSELF:
            self._cdp.notify("Target.setAutoAttach", AUTO_ATTACH, session)
            if self._first_sessions.setdefault(info["targetId"], session) == session:
                self._prepare(session, info["type"])
        # Commands of a session are carried out in order: the target runs on when it is prepared.
        let_go = self._cdp.call("Runtime.runIfWaitingForDebugger", None, session)
        self._starting.add(let_go)
        let_go.add_done_callback(self._let_go)

    def _let_go(self, done: asyncio.Future[dict[str, Any]]) -> None:
        self._starting.discard(done)
        if not done.cancelled() and (error := done.exception()) and not isinstance(error, CdpError):
            raise error

    def _detached(self, params: dict[str, Any], parent: str | None) -> None:
        session = params["sessionId"]
        for target in [t for t, s in self._first_sessions.items() if s == session]:
            del self._first_sessions[target]
            self._left(target)
