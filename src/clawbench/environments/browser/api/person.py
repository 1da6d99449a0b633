"""Recording a person's own browser through the extension: what comes in, and when it is over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

from clawbench.environments.browser.api.guard import Refusal
from clawbench.environments.browser.api.journal import Journal
from clawbench.environments.browser.api.messages import (
    NewAction,
    NewScreenshot,
    Readiness,
    SentRequest,
    Status,
)
from clawbench.environments.browser.api.re2 import re2_patterns
from clawbench.environments.browser.api.webrequest import body_of, shown_headers
from clawbench.environments.browser.gate.bodies import Body, query_params
from clawbench.environments.browser.gate.interceptor import interception
from clawbench.environments.browser.gate.matching import Decision, decide
from clawbench.environments.browser.vnc.presence import Presence
from clawbench.errors import EnvironmentFailedError
from clawbench.results import Reserve, RunDirectory, StopReason, cannot_be_kept, json_document
from clawbench.tasks import EvalSchema

SIGN_OF_LIFE_S = 20.0
"""Chrome ends an extension that has nothing to do for 30 s."""
AWAY_S = 45.0
"""How long the extension may be silent (a browser that starts again) before the person counts as gone."""
GOODBYE_S = 5.0
"""How long the extension may take to hand over what it still holds."""

Ending = tuple[StopReason, str]


class PersonRecording:
    """One recording, from the extension's first word to the last."""

    def __init__(
        self,
        run: RunDirectory,
        schema: EvalSchema,
        *,
        run_id: str,
        task: str,
        show_secrets: bool,
        on_progress: Callable[[int, int], None],
        on_notice: Callable[[str], None] = lambda _notice: None,
    ) -> None:
        self.notices: list[str] = []
        """What the one who reads the record must know."""
        self.presence = Presence()
        self._run, self._schema, self._run_id, self._task = run, schema, run_id, task
        self._on_progress, self._on_notice = on_progress, on_notice
        self._journal = Journal(
            run, show_secrets=show_secrets, on_line=self._progress, on_problem=self.report
        )
        self._state: Literal["waiting", "recording", "stopped", "ended"] = "waiting"
        self._intercepted = False
        loop = asyncio.get_running_loop()
        self._armed: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[Ending] = loop.create_future()
        self._armed.add_done_callback(lambda armed: armed.cancelled() or armed.exception())
        self._farewell, self._closed = asyncio.Event(), asyncio.Event()

    # -- for the run -------------------------------------------------------------------------------

    async def armed(self) -> None:
        """Return when the extension holds the final request, or when all is over before it does.

        EnvironmentFailedError where it cannot.
        """
        either: list[asyncio.Future[Any]] = [self._armed, self._over]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._armed.done():
            self._armed.result()

    async def over(self) -> Ending:
        """Wait for what ends the recording from the browser's side."""
        gone = asyncio.ensure_future(self._gone())
        either: list[asyncio.Future[Ending]] = [self._over, gone]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return self._over.result() if self._over.done() else gone.result()
        finally:
            gone.cancel()

    async def _gone(self) -> Ending:
        await self.presence.left(AWAY_S)
        detail = f"The extension was away for {AWAY_S:g} s: removed, or the browser closed"
        return StopReason.HUMAN_LEFT, detail

    def notice(self, text: str) -> None:
        """Something that the record, and the person at the terminal, should be told."""
        self.notices.append(text)
        self._on_notice(text)

    def leave(self, description: str) -> None:
        """The person is known to be gone."""
        self._end(StopReason.HUMAN_LEFT, description)

    async def close(self) -> None:
        """Let the extension hand over the rest and go."""
        self._farewell.set()
        if self.presence.here:
            try:
                await asyncio.wait_for(self.presence.left(0), GOODBYE_S)
            except TimeoutError:
                self.notice("The extension did not say goodbye; its last events may be missing.")
        self._closed.set()
        self._end_journal("ended")

    # -- for the API -------------------------------------------------------------------------------

    def status(self) -> Status:
        schema, journal = self._schema, self._journal
        patterns = [] if schema.never_matches else re2_patterns(schema.url_pattern)
        return Status(
            state=self._state,
            run_id=self._run_id,
            task=self._task,
            actions=journal.actions,
            requests=journal.requests,
            screenshots=journal.screenshots,
            intercepted=self._intercepted,
            blocking={"patterns": patterns, "method": schema.method.value},
        )

    def arm(self, readiness: Readiness) -> None:
        problem = f"The extension cannot hold the final request back: {readiness.detail or 'no reason given'}"
        if not readiness.blocking and self._armed.done():
            self._end(StopReason.ERROR, problem)
        elif not readiness.blocking:
            self._armed.set_exception(EnvironmentFailedError(problem))
        elif not self._armed.done():
            self._state = "recording"
            self._armed.set_result(None)

    async def live(self) -> AsyncIterator[str]:
        with self.presence.visit():
            yield _line("hello")
            while not self._farewell.is_set():
                try:
                    await asyncio.wait_for(self._farewell.wait(), SIGN_OF_LIFE_S)
                except TimeoutError:
                    yield _line("alive")
            yield _line("end")
            await self._closed.wait()  # the extension hangs up before, when it has handed over the rest

    def add_action(self, action: NewAction) -> str:
        self._require_recording()
        return self._journal.add_action(action)

    def add_screenshot(self, screenshot: NewScreenshot, png: bytes) -> list[str]:
        self._require_recording()
        return self._journal.add_screenshot(screenshot, png)

    async def add_request(self, request: SentRequest) -> str:
        body = await asyncio.to_thread(body_of, request)
        if self._state != "stopped":  # then the final request still counts
            self._require_recording()
            self._journal.add_request(request, shown_headers(request.headers), body)
        return self._judge(request, body)

    async def stop_recording(self) -> None:
        self._end_journal("stopped")

    def stop(self, description: str) -> None:
        self._end(StopReason.AGENT_EXITED, description or "The person finished")

    def report(self, problem: str) -> None:
        self._end(StopReason.ERROR, cannot_be_kept(problem))

    # -- the final request ---------------------------------------------------------------------------

    def _judge(self, sent: SentRequest, body: Body) -> str:
        params = query_params(sent.url)
        decision = decide(self._schema, sent.url, sent.method, params, body)
        if decision is not Decision.PASS:
            self._keep_match(sent, body, decision)
            return "match"
        if sent.blocked and sent.method.upper() == self._schema.method:
            self.notice(
                f"{sent.method} {sent.url[:200]} was blocked in the browser, but is not the final request. "
                "A browser's rule sees address and method only; another extension may block things, too."
            )
            return "held"
        return "pass"

    def _keep_match(self, sent: SentRequest, body: Body, decision: Decision) -> None:
        if self._intercepted:
            return
        request = {"url": sent.url, "method": sent.method, "headers": shown_headers(sent.headers)}
        _, record = interception(request, query_params(sent.url), body, decision)
        self._intercepted = True
        text = json_document(record | {"blocked": sent.blocked})
        try:
            Reserve(self._run.reserve).write(self._run.interception, text)
        except OSError as error:
            self.report(f"{self._run.interception}: {error.strerror}")
            return
        if not sent.blocked:
            self.notice("The final request was seen, but not held back: it reached the site.")
        self._end(StopReason.INTERCEPTED, f"{sent.method} {sent.url}"[:500])

    def _require_recording(self) -> None:
        if self._state == "waiting":
            raise Refusal(409, "the recording has not begun: the extension is not ready")
        if self._state != "recording":
            raise Refusal(409, "the recording has ended")

    def _end(self, reason: StopReason, description: str) -> None:
        if not self._over.done():
            self._over.set_result((reason, description))

    def _end_journal(self, state: Literal["stopped", "ended"]) -> None:
        if self._state not in ("stopped", "ended") and (without := self._journal.close()):
            self.notice(f"{without} actions have no screenshot: the browser gave none.")
        self._state = state

    def _progress(self) -> None:
        self._on_progress(self._journal.actions, self._journal.requests)


def _line(event: str) -> str:
    return json.dumps({"event": event}) + "\n"
