"""The browser's tabs: following new ones, answering dialogs, knowing when a page is quiet."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any

from .activity import Activity
from .cdp import BrowserGone, Cdp, CdpError
from .tools import ToolError

ENABLED = ("Page.enable", "Runtime.enable", "DOM.enable", "Network.enable")
TAB_WITHIN_S = 20.0
AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}


@dataclass
class Session:
    """One CDP session: a tab, or a frame that lives in a process of its own."""

    id: str
    target_id: str
    """For a page and for a frame alike this is also the id of its topmost frame."""
    parent: Session | None = None
    contexts: dict[int, str] = field(default_factory=dict)
    """Execution contexts of pages' own scripts -> frame."""


@dataclass
class Tab:
    session: Session
    activity: Activity = field(default_factory=Activity)
    frames: dict[str, Session] = field(default_factory=dict)
    file_chooser: asyncio.Future[dict[str, Any]] | None = None

    def sessions(self) -> list[Session]:
        return [self.session, *self.frames.values()]


class Browser:
    def __init__(self) -> None:
        self._cdp: Cdp
        self._tabs: dict[str, Tab] = {}
        """By target id, the current one last."""
        self._by_session: dict[str, tuple[Tab, Session]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._attached = asyncio.Event()
        self.notices: list[str] = []
        """What happened by itself, to be told with the next result."""

    @classmethod
    async def connect(cls, address: str) -> Browser:
        browser = cls()
        browser._cdp = await Cdp.connect(address, browser._on_event)
        await browser._cdp.call("Target.setDiscoverTargets", {"discover": True})
        targets = (await browser._cdp.call("Target.getTargets"))["targetInfos"]
        if not any(target["type"] == "page" for target in targets):
            await browser._cdp.call("Target.createTarget", {"url": "about:blank"})
        if not await browser._has_tab_within(TAB_WITHIN_S):
            await browser.close()
            raise BrowserGone("the browser offers no page")
        browser.notices.clear()
        return browser

    async def ended(self) -> None:
        await self._cdp.ended()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self._cdp.close()

    @property
    def tab(self) -> Tab:
        """The tab in front: the newest one, until it closes."""
        if not self._tabs:
            raise ToolError("no tab is open; open one with browser_open")
        return next(reversed(self._tabs.values()))

    async def current_tab(self) -> Tab:
        """The tab in front; a new one where the last was closed."""
        if not self._tabs:
            self._attached.clear()
            await self._cdp.call("Target.createTarget", {"url": "about:blank"})
            await self._has_tab_within(TAB_WITHIN_S)
        return self.tab

    async def _has_tab_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._attached.wait()
        except TimeoutError:
            return False

    async def call(
        self, method: str, params: dict[str, Any], session: Session | None = None
    ) -> dict[str, Any]:
        """A command to the tab in front, or to the session given."""
        return await self._cdp.call(method, params, (session or self.tab.session).id)

    async def settle(self, limit_s: float = 6.0) -> None:
        """Wait until the tab in front is quiet, also where a new tab came to the front meanwhile."""
        tab = self.tab
        await tab.activity.quiet(limit_s)
        if self._tabs and self.tab is not tab:
            await self.tab.activity.quiet(limit_s)

    def _on_event(self, method: str, params: dict[str, Any], session_id: str | None) -> None:
        match method:
            case "Target.targetCreated" if params["targetInfo"]["type"] == "page":
                self._start(self._attach(params["targetInfo"]["targetId"]))
            case "Target.targetDestroyed":
                self._forget_tab(params["targetId"])
            case "Target.attachedToTarget" if session_id in self._by_session:
                self._start(self._adopt_frame(*self._by_session[session_id], params))
            case "Target.detachedFromTarget":
                self._forget_frame(params["sessionId"])
            case _ if session_id in self._by_session:
                self._on_tab_event(*self._by_session[session_id], method, params)

    def _on_tab_event(self, tab: Tab, session: Session, method: str, params: dict[str, Any]) -> None:
        tab.activity.note(method, params, session.id)
        match method:
            case "Runtime.executionContextCreated":
                context = params["context"]
                if context["auxData"].get("isDefault"):
                    session.contexts[context["id"]] = context["auxData"]["frameId"]
            case "Runtime.executionContextDestroyed":
                session.contexts.pop(params["executionContextId"], None)
            case "Runtime.executionContextsCleared":
                session.contexts.clear()
            case "Page.javascriptDialogOpening":
                self._start(self._answer_dialog(session, params))
            case "Page.fileChooserOpened":
                self._on_file_chooser(tab, params)

    async def _attach(self, target_id: str) -> None:
        if target_id in self._tabs:
            return
        attached = await self._cdp.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        session = Session(attached["sessionId"], target_id)
        tab = Tab(session)
        if self._tabs:
            self.notices.append("a new tab was opened and is now in front")
        self._tabs[target_id] = tab
        self._by_session[session.id] = tab, session
        await self._enable(session)
        self._attached.set()

    async def _adopt_frame(self, tab: Tab, parent: Session, params: dict[str, Any]) -> None:
        target = params["targetInfo"]
        if target["type"] != "iframe":
            return
        session = Session(params["sessionId"], target["targetId"], parent)
        tab.frames[session.id] = session
        self._by_session[session.id] = tab, session
        await self._enable(session)

    async def _enable(self, session: Session) -> None:
        for method in ENABLED:
            await self._cdp.call(method, session=session.id)
        await self._cdp.call("Target.setAutoAttach", AUTO_ATTACH, session.id)
        if session.parent is None:
            await self._cdp.call("Page.setInterceptFileChooserDialog", {"enabled": True}, session.id)

    def _forget_tab(self, target_id: str) -> None:
        tab = self._tabs.pop(target_id, None)
        if tab is None:
            return
        for session in tab.sessions():
            self._by_session.pop(session.id, None)
            tab.activity.forget(session.id)
        self.notices.append("the tab was closed")
        if self._tabs:
            self._start(self.call("Page.bringToFront", {}))

    def _forget_frame(self, session_id: str) -> None:
        tab, session = self._by_session.get(session_id, (None, None))
        if tab is not None and session is not None and session.parent is not None:
            del self._by_session[session_id]
            tab.frames.pop(session_id, None)
            tab.activity.forget(session_id)

    async def _answer_dialog(self, session: Session, params: dict[str, Any]) -> None:
        answer = {"accept": True, "promptText": params.get("defaultPrompt", "")}
        await self._cdp.call("Page.handleJavaScriptDialog", answer, session.id)
        if params["type"] != "beforeunload":
            self.notices.append(
                f"the page showed a dialog ({params['type']}), accepted: {params['message']!r}"
            )

    def _on_file_chooser(self, tab: Tab, params: dict[str, Any]) -> None:
        if tab.file_chooser is not None and not tab.file_chooser.done():
            tab.file_chooser.set_result(params)
        else:
            self.notices.append("the page asked for a file; give it one with browser_upload on this element")

    def _start(self, work: Any) -> None:
        async def tolerant() -> None:
            # the target may be gone before the command reaches it
            with contextlib.suppress(CdpError, BrowserGone):
                await work

        task = asyncio.create_task(tolerant())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
