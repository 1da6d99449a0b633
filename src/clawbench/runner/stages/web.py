"""A web run: a recorded browser behind an interceptor, and the files of the synthetic user."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pydantic import SecretStr

from clawbench.doctor import find_browser
from clawbench.environments.browser import BrowserSession, EgressRules, SessionConfig, SessionEvent
from clawbench.errors import MissingPartError
from clawbench.harnesses import CDP
from clawbench.results import RunDirectory, RunRecord, Score, StopReason, write_json
from clawbench.runner.host import Host
from clawbench.runner.progress import Progress
from clawbench.runner.spec import RunSpec
from clawbench.runner.stages.ending import CUT_OFF, read_interception, true_stop, write_not_intercepted
from clawbench.runner.stages.handouts import hand_out
from clawbench.runner.stops import Stop, first_of
from clawbench.sandbox import Mount
from clawbench.scoring.web import score_web
from clawbench.sites import serve_site
from clawbench.tasks import WebTask, web_prompt

if TYPE_CHECKING:  # web servers that take long to import, and most runs have no use for
    from clawbench.environments.browser.vnc import LiveView

MY_INFO = "/my-info"
VNC_SOCKET = "vnc.sock"

_STOPPING_EVENTS = {
    "intercepted": StopReason.INTERCEPTED,
    "browser_crashed": StopReason.BROWSER_CRASHED,
    "human_left": StopReason.HUMAN_LEFT,
    "failed": StopReason.ERROR,
    "stop_requested": StopReason.CANCELLED,
}


class WebStage:
    """The browser side of a run."""

    def __init__(
        self,
        spec: RunSpec,
        task: WebTask,
        run: RunDirectory,
        host: Host,
        scratch: Path,
        progress: Progress,
        seed: str,
    ) -> None:
        self._spec, self._task, self._run, self._host, self._progress = spec, task, run, host, progress
        self._scratch = scratch
        self._resources = AsyncExitStack()
        self._session: BrowserSession | None = None
        self._view: LiveView | None = None
        self._stopped: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        self._last_activity = time.monotonic()
        self._signs_of_life = (0, 0)
        self._api_token = SecretStr(secrets.token_urlsafe(24))
        self._video_started_at: float | None = None
        self._notices: list[str] = []
        self._my_info = scratch / "my-info"
        self._handouts = hand_out(task, self._my_info, seed)
        write_not_intercepted(run, CUT_OFF)
        write_json(run.eval_schema, task.eval_schema.model_dump(mode="json", exclude_none=True))
        self.prompt = web_prompt(task, [f"{MY_INFO}/{name}" for name in self._handouts.names])
        self.mounts = [Mount(self._my_info, MY_INFO)]
        self.sockets: Mapping[str, Path] = {CDP: scratch / "cdp.sock"}

    async def up(self) -> None:
        egress, trusted_key = await self._serve_site()
        session = BrowserSession(self._run.browser_log, on_spawn=self._guard)
        self._resources.push_async_callback(session.kill)
        finishing = asyncio.to_thread(self._handouts.finish)
        ready, _ = await asyncio.gather(session.start(self._config(egress, trusted_key)), finishing)
        self._session, self._last_activity = session, time.monotonic()
        self._video_started_at = ready.video_started_at
        reader = asyncio.ensure_future(self._follow(session))
        self._resources.callback(reader.cancel)
        if ready.api_url is not None:
            from clawbench.environments.browser.api import ServedApi

            self._progress.tell(ServedApi(ready.api_url, self._api_token.get_secret_value()).for_tools)
        await self._show()

    async def _serve_site(self) -> tuple[EgressRules, str | None]:
        """Where the browser gets, and the key that it trusts there."""
        if self._task.site is None:
            return EgressRules(), None
        socket = self._scratch / "site.sock"
        site = await self._resources.enter_async_context(serve_site(self._task.site, socket))
        tls_routes = dict.fromkeys(site.hosts, site.tls_socket) if site.tls_socket else {}
        routes = dict.fromkeys(site.hosts, socket)
        return EgressRules(routes=routes, tls_routes=tls_routes, internet=False), site.key_hash

    def _guard(self, pid: int) -> None:
        self._host.guardian.watch_process(pid)
        self._resources.callback(self._host.guardian.forget_process, pid)

    async def _show(self) -> None:
        if (settings := self._spec.view) is not None:
            from clawbench.runner.stages.view import invitation, open_view

            screen, relay = self._scratch / VNC_SOCKET, self.sockets[CDP]
            view = open_view(settings, self._task, self._uploads(), screen=screen, relay=relay)
            self._view = await self._resources.enter_async_context(view)
            self._progress.tell(invitation(settings, self._view))

    def _uploads(self) -> dict[str, Path]:
        return {f"{MY_INFO}/{path.name}": path for path in self._my_info.iterdir()}

    def _config(self, egress: EgressRules, trusted_key: str | None) -> SessionConfig:
        remote = self._spec.browser_cdp
        scratch = self._scratch / "browser"
        scratch.mkdir(mode=0o700)
        return SessionConfig(
            run_dir=self._run.path,
            eval_schema=self._task.eval_schema.model_dump(mode="json", exclude_none=True),
            egress=egress,
            relay_socket=self.sockets[CDP],
            scratch=scratch,
            uploads=self._uploads(),
            record_passwords=self._task.record_passwords,
            browser=find_local_browser() if remote is None else Path(),
            remote=None if remote is None else remote.url,
            sandbox=cast(Literal["bwrap", "none"], self._spec.sandbox),
            view=self._spec.view.mode if self._spec.view is not None else "none",
            vnc_socket=self._scratch / VNC_SOCKET,
            api_port=self._spec.api_port,
            api_token=self._api_token,
            trusted_key=trusted_key,
        )

    async def _follow(self, session: BrowserSession) -> None:
        async for event in session.events():
            self._note(event)

    def _note(self, event: SessionEvent) -> None:
        if (signs := (event.actions, event.commands)) != self._signs_of_life:
            self._signs_of_life, self._last_activity = signs, time.monotonic()
        if event.event == "notice":
            self._notices.append(event.detail)
        self._video_started_at = event.video_started_at or self._video_started_at
        self._progress.actions = max(self._progress.actions, event.actions)
        self._progress.requests = max(self._progress.requests, event.requests)
        self._progress.changed()
        if self._view is not None:
            self._view.count(self._progress.actions, self._progress.requests)
        reason = _STOPPING_EVENTS.get(event.event)
        if reason is not None and self._stopped.done():
            self._notices.append(event.detail)
        elif reason is not None:
            self._stopped.set_result(Stop(reason, event.detail))
            if self._view is not None:
                self._view.stop(reason)

    async def stop_signal(self) -> Stop:
        gone = []
        if self._view is not None and self._spec.view is not None:
            from clawbench.runner.stages.view import leaving

            self._view.begin(self._spec.agent_time_s)
            gone = leaving(self._spec.view, self._view)
        return await first_of(gone, self._stopped) or self._stopped.result()

    def last_activity(self) -> float:
        return self._last_activity

    async def down(self, stop: Stop) -> Stop:
        if self._view is not None:
            self._view.stop(stop.reason)
        died = await self._end_session(stop)
        of_session = self._stopped.result() if self._stopped.done() else None
        intercepted = read_interception(self._run.interception).intercepted
        stop = true_stop(stop, intercepted, of_session, died)
        if not intercepted:
            write_not_intercepted(self._run, stop)
        elif died is not None:
            self._notices.append(f"The recording ends early: {died}")
        return stop

    async def _end_session(self, stop: Stop) -> str | None:
        """Let the session finish what it recorded; why it did not, where it did not."""
        if self._session is None:
            return None
        last = await self._session.stop(stop.reason, stop.description)
        self._note(last)
        return None if last.event == "closed" else last.detail

    def describe(self, record: RunRecord) -> None:
        record.video_started_at = self._video_started_at
        record.actions, record.requests = self._progress.actions, self._progress.requests
        record.notices = list(dict.fromkeys((*record.notices, *self._notices)))

    async def score(self, record: RunRecord) -> Score:
        assert record.stop_reason is not None
        score = score_web(self._task, read_interception(self._run.interception), record.stop_reason)
        if self._view is not None:
            self._view.settle(record.stop_reason, score.verdict)
        return score

    async def close(self) -> None:
        await self._resources.aclose()


def find_local_browser() -> Path:
    if (browser := find_browser()) is None:
        raise MissingPartError("Chromium", "web tasks run in it", "Run `clawbench doctor --fix`")
    return browser
