"""A shared browser seen through one of its contexts, as if that were all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, Message, Transport
from clawbench.environments.browser.recorder import BINDING
from clawbench.environments.browser.remote.clock import set_right
from clawbench.environments.browser.remote.ownership import Ownership
from clawbench.environments.browser.remote.scope import belongs, leads_to_debugger, only_ours, within
from clawbench.environments.browser.remote.uploads import NOT_DRAGGED, fill_file_input, refusal

OnReply = Callable[[Message], None] | None


class ContextConnection(CdpConnection):
    """Hides what is not of the context, and keeps what is sent within it.

    Targets of others are let go at once, their requests continued unchanged; recorder, interceptor and relay
    see neither. Until `enter` was called, everything passes.
    """

    def __init__(self, transport: Transport) -> None:
        self.clock_ahead_s = 0.0
        """How far the browser's clock is ahead of ours; its times are set right."""
        self._context: str | None = None
        self._named: str | None = None
        self._ownership = Ownership(self._ask)
        self._targets: dict[str, str] = {}
        self._foreign_sessions: set[str] = set()
        self._held: dict[str, list[Message]] = {}
        """Requests of frames of which nobody knows yet whose they are."""
        self._refused: set[str] = set()
        self._sent: dict[str, Callable[[dict[str, Any], str | None], None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sieves: dict[str, Callable[[Message], bool]] = {
            "Fetch.requestPaused": self._paused,
            "Page.frameAttached": self._frame_attached,
            "Target.attachedToTarget": self._attached,
            "Target.detachedFromTarget": self._detached,
            "Target.targetCreated": self._described,
            "Target.targetInfoChanged": self._described,
            "Target.targetDestroyed": self._gone,
            "Target.targetCrashed": self._gone,
        }
        super().__init__(transport)

    def enter(self, context: str, *, is_default: bool) -> None:
        """From now on show this context only."""
        self._context, self._named = context, None if is_default else context
        self._ownership.context = context

    def on_sent(self, method: str, callback: Callable[[dict[str, Any], str | None], None]) -> None:
        """Call `callback(params, session)` whenever such a command is sent, by whomever."""
        self._sent[method] = callback

    def target_of(self, session: str | None) -> str | None:
        """What a session is attached to."""
        return None if session is None else self._targets.get(session)

    # -- sending ---------------------------------------------------------------------------------

    def send_raw(
        self, method: str, params: dict[str, Any] | None, session: str | None, on_reply: OnReply
    ) -> None:
        if (callback := self._sent.get(method)) is not None:
            self._guarded(callback, params or {}, session)
        if method == "DOM.setFileInputFiles" and params is not None:
            self._start(self._upload(params, session, on_reply))
        elif method == "Input.dispatchDragEvent" and (params or {}).get("data", {}).get("files"):
            self._answer(on_reply, refusal(NOT_DRAGGED))
        else:
            method, params = self._checked(method, params, session)
            sieved = None if on_reply is None else self._sieved(method, on_reply)
            super().send_raw(method, within(method, params, self._named), session, sieved)

    def _checked(
        self, method: str, params: dict[str, Any] | None, session: str | None
    ) -> tuple[str, dict[str, Any] | None]:
        """A request to a debugging port is failed, whoever lets it go."""
        request = (params or {}).get("requestId", "")
        if session is None and method == "Fetch.continueRequest" and request in self._refused:
            self._refused.discard(request)
            return "Fetch.failRequest", {"requestId": request, "errorReason": "BlockedByClient"}
        return method, params

    def _sieved(self, method: str, on_reply: Callable[[Message], None]) -> Callable[[Message], None]:
        def sieve(reply: Message) -> None:
            if self._context is not None and "result" in reply:
                reply = {**reply, "result": only_ours(method, reply["result"], self._context)}
            on_reply(reply)

        return sieve

    async def _upload(self, params: dict[str, Any], session: str | None, on_reply: OnReply) -> None:
        self._answer(on_reply, await fill_file_input(self, params, session))

    def _answer(self, on_reply: OnReply, reply: Message) -> None:
        if on_reply is not None:
            self._loop.call_soon(on_reply, reply)

    # -- receiving -------------------------------------------------------------------------------

    def deliver(self, message: Message) -> None:
        if self.clock_ahead_s:
            set_right(message, BINDING, self.clock_ahead_s)
        sieve = self._sieves.get(message["method"])
        if self._context is None or sieve is None or sieve(message):
            super().deliver(message)

    def _described(self, message: Message) -> bool:
        assert self._context is not None
        info = message["params"]["targetInfo"]
        ours = belongs(info, self._context)
        self._ownership.learn(info["targetId"], ours=ours)
        return ours

    def _gone(self, message: Message) -> bool:
        return self._ownership.of(message["params"]["targetId"]) is not False

    def _attached(self, message: Message) -> bool:
        session, info = message["params"]["sessionId"], message["params"]["targetInfo"]
        if self._described(message):
            self._targets[session] = info["targetId"]
            if info["type"] == "page" and message.get("sessionId") is None:
                self._ownership.pages[session] = info["targetId"]
            return True
        self._foreign_sessions.add(session)
        if info["targetId"] not in self._ownership.questioned:
            self._let_go(session, message.get("sessionId"))
        return False

    def _let_go(self, session: str, parent: str | None) -> None:
        """Leave a target of others, not before it runs: a service worker left too early waits for ever."""

        def leave(_running: asyncio.Future[Message]) -> None:
            self.notify("Target.detachFromTarget", {"sessionId": session}, parent)

        self._ask("Runtime.runIfWaitingForDebugger", {}, session).add_done_callback(leave)

    def _detached(self, message: Message) -> bool:
        session = message["params"]["sessionId"]
        self._ownership.pages.pop(session, None)
        self._targets.pop(session, None)
        if session not in self._foreign_sessions:
            return True
        self._foreign_sessions.discard(session)
        return False

    def _frame_attached(self, message: Message) -> bool:
        self._ownership.learn(message["params"]["frameId"], ours=True)
        return True

    # -- requests --------------------------------------------------------------------------------

    def _paused(self, message: Message) -> bool:
        if message.get("sessionId") is not None:
            return True
        frame = message["params"].get("frameId", "")
        if (ours := self._ownership.of(frame)) is not None:
            return self._judged(message, ours=ours)
        waiting = self._held.setdefault(frame, [])
        waiting.append(message)
        if len(waiting) == 1:
            self._start(self._find_owner(frame))
        return False

    async def _find_owner(self, frame: str) -> None:
        ours = True
        try:
            ours = await self._ownership.find(frame)
        finally:
            for message in self._held.pop(frame):
                if self._judged(message, ours=ours):
                    super().deliver(message)

    def _judged(self, message: Message, *, ours: bool) -> bool:
        """Let a request of others go; of ours, remember one that must not pass."""
        paused = message["params"]
        if not ours:
            self.notify("Fetch.continueRequest", {"requestId": paused["requestId"]})
        elif leads_to_debugger(paused["request"]["url"]):
            self._refused.add(paused["requestId"])
        return ours

    def _ask(self, method: str, params: dict[str, Any], session: str | None) -> asyncio.Future[Message]:
        """The whole reply to a command, with nothing hidden."""
        future: asyncio.Future[Message] = self._loop.create_future()

        def settle(reply: Message) -> None:
            if not future.done():
                future.set_result(reply)

        super().send_raw(method, params, session, settle)
        return future

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
