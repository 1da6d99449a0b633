"""The recorder: what happens in the browser, written down as it happens."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.recorder.action_log import ActionLog
from clawbench.environments.browser.recorder.actions import (
    ADDRESS_LENGTH,
    NAME_LENGTH,
    TEXT_LENGTH,
    VALUE_LENGTH,
    with_inner_target,
)
from clawbench.environments.browser.recorder.contexts import Contexts
from clawbench.environments.browser.recorder.frames import FrameLog
from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.environments.browser.recorder.order import Pending
from clawbench.environments.browser.recorder.outcomes import Outcome, with_outcome
from clawbench.environments.browser.recorder.requests import RequestLog
from clawbench.environments.browser.recorder.screenshots import Screenshots
from clawbench.environments.browser.recorder.shadow import STATE, look_inside
from clawbench.environments.browser.recorder.targets import WITH_DOCUMENTS, Targets
from clawbench.environments.browser.screen import Screen
from clawbench.results import RunDirectory, rewrite_lines

log = logging.getLogger(__name__)

WORLD = "clawbench-recorder"
"""Name of the isolated world in which the injected script lives."""
BINDING = "clawbenchRecorderReport"
"""The function, in that world only, through which the script reports."""
PROBE = "probe"
OUTSIDE = "outside"
"""Where actions come from that are no process's of the browser."""
LIMITS = {
    **{"text": TEXT_LENGTH, "value": VALUE_LENGTH, "name": NAME_LENGTH, "address": ADDRESS_LENGTH},
    "secret": 4,  # letters from which on a value is known again in another field
    "secretFields": 100,  # whose values are known again
    "loadMs": 500,  # after which a parsed document is told of, loaded or not
    **{"scrollMs": 100, "examineMs": 30, "probeAgainMs": 1000},
}
LARGEST_POST_IN_EVENTS = 64 * 1024
"""Larger bodies come once only, with the paused request."""
UNUSED = ("Network.dataReceived", "Network.requestWillBeSentExtraInfo", "Network.responseReceivedExtraInfo")
"""What the Network domain tells besides: half of all events."""
FLUSH = f"{STATE}.flush()"
HEAR_OUT_WITHIN_S = 0.5
HOLD_AT_MOST_S = 1.0
"""A line waits no longer than this for what is inside a closed shadow root."""


class Recorder:
    """Writes actions.jsonl, requests.jsonl and the screenshots of one session."""

    def __init__(
        self,
        cdp: CdpConnection,
        run: RunDirectory,
        screen: Screen,
        *,
        record_passwords: bool,
        on_progress: Callable[[int, int], None],
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        """`on_problem` hears at once of what could not be kept."""
        self._cdp = cdp
        self.on_target: Callable[[str], None] = lambda _: None
        """Hears of each session on a target that does not run yet."""
        self.contexts = Contexts()
        self._on_progress, self._on_problem = on_progress, on_problem
        self._loop = asyncio.get_running_loop()
        self._actions = ActionLog(
            run.actions, show_secrets=record_passwords, on_line=self._progress, on_problem=self._report
        )
        self._requests_file = run.requests
        self._request_lines = RecordFile(run.requests, self._report)
        self._requests = RequestLog(cdp, self._request_lines, self._progress)
        self._frames_seen = FrameLog(run.websocket, self._report)
        self._screenshots = Screenshots(screen, run.screenshots, self._report)
        self._targets = Targets(cdp, self._prepare, self.contexts.cleared)
        self._frames: dict[tuple[str | None, int], str] = {}
        self._looking: set[asyncio.Task[None]] = set()
        self._closed = False
        self._unsubscribe: list[Callable[[], None]] = []

    @property
    def actions(self) -> int:
        return self._actions.count

    @property
    def requests(self) -> int:
        return self._request_lines.count

    @property
    def screenshots(self) -> int:
        return self._screenshots.taken + self._screenshots.added

    @property
    def problems(self) -> list[str]:
        """What could not be kept, in words."""
        of_files = (self._actions.problem, self._request_lines.problem)
        return [problem for problem in of_files if problem] + self._screenshots.problems

    async def start(self) -> None:
        """Record from now on, in everything that is open and that will be."""
        handlers = (
            ("Runtime.bindingCalled", self._reported),
            ("Runtime.executionContextCreated", self._context_created),
            ("Runtime.executionContextDestroyed", self._context_destroyed),
            ("Runtime.executionContextsCleared", self._contexts_cleared),
            *self._requests.handlers(),
            *self._frames_seen.handlers(),
        )
        self._cdp.ignore(UNUSED)
        self._unsubscribe = [self._cdp.on(method, handler) for method, handler in handlers]
        await self._targets.start()

    def on_paused(self, params: dict[str, Any]) -> None:
        """Tell the recorder of a Fetch.requestPaused event, before the request is decided."""
        if not self._closed:
            self._requests.paused(params)

    def on_blocked(self) -> None:
        """Tell the recorder that the request it was told of last will not leave."""
        self._requests.blocked()

    def before_leaving(self, target: str | None) -> None:
        """What its documents have still to tell is lost with them, and can be asked for only now."""
        for session in self._targets.sessions:
            for question in self._questions(session) if self._targets.recorded_by(session) == target else ():
                self._cdp.notify("Runtime.evaluate", question, session)

    def add_action(self, seen: dict[str, Any]) -> str:
        """An action that an outside tool saw, in its place in the order; returns its screenshot's name."""
        pending = self._actions.put(seen, seen.get("frame"), self._screenshots.take, source=OUTSIDE)
        self._actions.write_ready()
        return pending.screenshot

    def add_screenshot(self, taken_at_ms: float, png: bytes) -> str:
        """A picture that an outside tool took; returns its name."""
        return self._screenshots.add(self._actions.place(taken_at_ms), png)

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """Take in no more; return when all lines and screenshots are on disk."""
        if self._closed:
            return
        await self._hear_out()
        self._closed = True
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self._looking:
            await asyncio.wait(self._looking, timeout=HOLD_AT_MOST_S)
        for task in self._looking:
            task.cancel()
        self._actions.close()
        outcomes = await self._requests.close()
        self._request_lines.close()
        await asyncio.to_thread(self._add_outcomes, outcomes)
        self._frames_seen.close()
        await self._screenshots.close()

    def explain_by(self, why_unreachable: Callable[[str], str | None]) -> None:
        """Ask this why there was no way to a URL."""
        self._requests.why_unreachable = why_unreachable

    def way_out_closes(self) -> None:
        """From now on requests fail because nothing leaves: that is not what became of them."""
        self._requests.failures_count = False

    async def _hear_out(self) -> None:
        """Answers come after all before them: what documents still have to tell, late network events."""
        asked = [
            self._cdp.call("Runtime.evaluate", question, session)
            for session in self._targets.sessions
            for question in ({"expression": "0"}, *self._questions(session))
        ]
        if asked:
            await asyncio.wait(asked, timeout=HEAR_OUT_WITHIN_S)
        for answer in asked:
            answer.cancel() if not answer.done() else answer.exception()

    def _questions(self, session: str) -> Iterator[dict[str, Any]]:
        """Letting each document of a session tell what it has still to tell."""
        for name in self.contexts.recorders(self._targets.recorded_by(session)).values():
            yield {"expression": FLUSH, "uniqueContextId": name}

    def _add_outcomes(self, outcomes: Mapping[int, Outcome]) -> None:
        """Say in each line of requests.jsonl what became of it; where that fails, they stay as they are."""
        try:
            rewrite_lines(self._requests_file, lambda number, line: with_outcome(line, outcomes.get(number)))
        except OSError as error:
            log.warning("%s: what became of the requests is not in it: %s", self._requests_file, error)

    # -- targets ---------------------------------------------------------------------------------

    def _prepare(self, session: str, kind: str) -> None:
        self._cdp.notify("Network.enable", {"maxPostDataSize": LARGEST_POST_IN_EVENTS}, session)
        self.on_target(session)
        if kind not in WITH_DOCUMENTS:
            return
        self._cdp.notify("Page.enable", {}, session)
        self._cdp.notify("Runtime.enable", {}, session)
        self._cdp.notify("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD}, session)
        script = {"source": injected_script(), "worldName": WORLD, "runImmediately": True}
        self._cdp.notify("Page.addScriptToEvaluateOnNewDocument", script, session)

    def _context_created(self, params: dict[str, Any], session: str | None) -> None:
        context = params["context"]
        target = self._targets.recorded_by(session)
        if context["name"] == WORLD:
            self._frames[session, context["id"]] = context.get("auxData", {}).get("frameId")
            if target is not None:
                self.contexts.created_for_recorder(target, context["id"], context["uniqueId"])
        elif target is not None:
            self.contexts.created(target, context["id"], context["uniqueId"])

    def _context_destroyed(self, params: dict[str, Any], session: str | None) -> None:
        if (target := self._targets.recorded_by(session)) is not None:
            self.contexts.destroyed(target, params["executionContextId"])

    def _contexts_cleared(self, _params: dict[str, Any], session: str | None) -> None:
        if (target := self._targets.recorded_by(session)) is not None:
            self.contexts.cleared(target)

    # -- actions ---------------------------------------------------------------------------------

    def _reported(self, params: dict[str, Any], session: str | None) -> None:
        if params["name"] != BINDING:
            return
        context = params["executionContextId"]
        seen = json.loads(params["payload"])
        held = seen.pop("held", None)
        if seen["type"] == PROBE:
            self._look(None, session, context, held)
            return
        frame = self._frames.get((session, context))
        pending = self._actions.put(
            seen, frame, self._screenshots.take, source=session, held=held is not None
        )
        if held is not None:
            self._look(pending, session, context, held)
        self._actions.write_ready()

    def _look(self, pending: Pending | None, session: str | None, context: int, held: float) -> None:
        task = self._loop.create_task(self._find_target(pending, session, context, held))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    async def _find_target(
        self, pending: Pending | None, session: str | None, context: int, held: float
    ) -> None:
        question = asyncio.ensure_future(look_inside(self._cdp, session, context, held))
        await asyncio.wait([question], timeout=HOLD_AT_MOST_S)
        if pending is not None:
            pending.seen = with_inner_target(pending.seen, question.result() if question.done() else None)
            pending.held = False
            self._actions.write_ready()
        await question

    def _report(self, problem: str) -> None:
        """Called on any thread."""
        if self._on_problem is not None:
            self._loop.call_soon_threadsafe(self._on_problem, problem)

    def _progress(self) -> None:
        self._on_progress(self.actions, self.requests)


def names_in_use() -> frozenset[str]:
    """Every word of the injected script, among them all that it takes from its global object."""
    return frozenset(re.findall(r"[A-Za-z_$][\w$]*", injected_script()))


def injected_script(**limits: int) -> str:
    """The script for every document, with its names and limits filled in."""
    binding, state, values = (json.dumps(value) for value in (BINDING, STATE, LIMITS | limits))
    elements = f"({_script('elements.js')})({values})"
    return f"({_script('recorder.js')})({binding}, {state}, {values}, {elements})"


def _script(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").strip()
