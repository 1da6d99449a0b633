"""Recording a person's own browser through the extension: what comes in, and when it is over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Literal

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
from clawbench.results import RunDirectory, StopReason, write_json
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
    ) -> None:
        self.notices: list[str] = []
        """What the one who reads the record must know."""
        self.presence = Presence()
        self._run, self._schema, self._run_id, self._task = run, schema, run_id, task
        self._on_progress = on_progress
        self._journal = Journal(run, show_secrets=show_secrets)
        self._state: Literal["waiting", "recording", "stopped", "ended"] = "waiting"
        self._intercepted = False
        loop = asyncio.get_running_loop()
        self._armed: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[Ending] = loop.create_future()
        self._armed.add_done_callback(lambda armed: armed.cancelled() or armed.exception())
        self._farewell = asyncio.Event()

    # -- for the run -------------------------------------------------------------------------------

    async def armed(self) -> None:
        """Return when the extension holds the final request; EnvironmentFailedError where it cannot."""
        await asyncio.shield(self._armed)

    async def over(self) -> Ending:
        """Wait for what ends the recording from the browser's side."""
        gone = asyncio.ensure_future(self.presence.left(AWAY_S))
        ended = asyncio.shield(self._over)
        try:
            await asyncio.wait([gone, ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
        if self._over.done():
            return self._over.result()
        return (
            StopReason.HUMAN_LEFT,
            f"The extension was gone for {AWAY_S:g} s: removed, or the browser closed",
        )

    async def close(self) -> tuple[int, int]:
        """Let the extension hand over the rest and go; returns how many actions and requests there are."""
        self._farewell.set()
        if self.presence.here:
            try:
                await asyncio.wait_for(self.presence.left(0), GOODBYE_S)
            except TimeoutError:
                self.notices.append("The extension did not say goodbye; its last events may be missing.")
        self._end_journal("ended")
        return self._journal.actions, self._journal.requests

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
            await asyncio.Event().wait()  # the extension hangs up when it has handed over the rest

    def add_action(self, action: NewAction) -> str:
        self._require_recording()
        screenshot = self._journal.add_action(action)
        self._progress()
        return screenshot

    def add_screenshot(self, screenshot: NewScreenshot, png: bytes) -> list[str]:
        self._require_recording()
        return self._journal.add_screenshot(screenshot, png)

    async def add_request(self, request: SentRequest) -> str:
        body = await asyncio.to_thread(body_of, request)
        if self._state != "stopped":  # then the final request still counts
            self._require_recording()
            self._journal.add_request(request, shown_headers(request.headers), body)
            self._progress()
        return self._judge(request, body)

    async def stop_recording(self) -> None:
        self._end_journal("stopped")

    def stop(self, description: str) -> None:
        self._end(StopReason.AGENT_EXITED, description or "The person finished")

    def fail(self, error: OSError) -> None:
        self._end(StopReason.ERROR, f"The recording could not be written: {error}")

    # -- the final request ---------------------------------------------------------------------------

    def _judge(self, sent: SentRequest, body: Body) -> str:
        params = query_params(sent.url)
        decision = decide(self._schema, sent.url, sent.method, params, body)
        if decision is not Decision.PASS:
            self._keep_match(sent, body, decision)
            return "match"
        if sent.blocked and sent.method.upper() == self._schema.method:
            self.notices.append(
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
        write_json(self._run.interception, record | {"blocked": sent.blocked})
        self._intercepted = True
        if not sent.blocked:
            self.notices.append("The final request was seen, but not held back: it reached the site.")
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
            self.notices.append(f"{without} actions have no screenshot: the browser gave none.")
        self._state = state

    def _progress(self) -> None:
        self._on_progress(self._journal.actions, self._journal.requests)


def _line(event: str) -> str:
    return json.dumps({"event": event}) + "\n"
