"""The session process (`python -m` this module), spoken to over stdin and stdout."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from clawbench.environments.browser.protocol import SessionCommand, SessionConfig, SessionEvent
from clawbench.environments.browser.stage import Stage, Watchers, open_stage
from clawbench.environments.browser.vigil import CLOSED
from clawbench.errors import ClawbenchError
from clawbench.results import InterceptedRequest, NotIntercepted, RunDirectory, StopReason, write_json
from clawbench.sandbox import Guardian, enter_own_ipc

log = logging.getLogger(__name__)

LONGEST_LINE = 64 << 20
QUIET_S = 0.5
PROGRESS_EVERY_S = 0.2
MOST_NOTICES = 50


@dataclass(frozen=True)
class End:
    """Why a session is over."""

    reason: StopReason
    description: str
    event: SessionEvent | None = None
    """What to tell the runner, where it does not know yet."""


class Session:
    """One browser session from its configuration to its last file."""

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self._run = RunDirectory(config.run_dir)
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[End] = self._loop.create_future()
        self._stage: Stage | None = None
        self._closing: asyncio.Task[bool] | None = None
        self._notices: list[str] = []
        self._counts = {"actions": 0, "requests": 0, "commands": 0}
        self._progress_due: asyncio.TimerHandle | None = None

    def end(self, reason: StopReason, description: str, event: SessionEvent | None = None) -> None:
        """The session is over; the first reason counts."""
        if not self._over.done():
            self._over.set_result(End(reason, description, event))

    async def run(self) -> bool:
        """Live to the end; True where nothing failed."""
        living = asyncio.create_task(self._live())
        self._over.add_done_callback(lambda _: self._stage is None and living.cancel())
        with suppress(asyncio.CancelledError):
            await living
        end = self._over.result()
        if self._progress_due is not None:
            self._progress_due.cancel()
        self._write_outcome(end)
        self._say("closed", detail=end.description)
        return end.reason is not StopReason.ERROR

    async def _live(self) -> None:
        scratch = self._config.scratch / "session"
        try:
            async with AsyncExitStack() as stack:
                guardian = Guardian.start()
                stack.callback(guardian.close)
                scratch.mkdir()
                guardian.watch_directory(scratch)
                stack.callback(shutil.rmtree, scratch, ignore_errors=True)
                self._stage = await self._open(stack, scratch, guardian)
                self._announce(self._stage, await self._serve_api(stack, self._stage))
                end = await self._over
                if end.event is not None:
                    self._emit(end.event)
                await self._closing_moment()
        except Exception as error:
            log.exception("the session failed")
            if self._stage is None or not self._over.done():
                self._say("failed", detail=explain(error))
            self.end(StopReason.ERROR, explain(error))

    async def _open(self, stack: AsyncExitStack, scratch: Path, guardian: Guardian) -> Stage:
        if self._config.remote is None:
            return await open_stage(stack, self._config, scratch, guardian, self._watchers())
        # Its web client takes long to import, and most sessions have no use for it.
        from clawbench.environments.browser.remote.stage import open_remote_stage

        return await open_remote_stage(stack, self._config, scratch, guardian, self._watchers())

    def _announce(self, stage: Stage, api_url: str | None) -> None:
        self._say("ready", video_started_at=stage.video.started_at, detail=stage.version, api_url=api_url)
        for notice in stage.notices:
            self.notice(notice)

    async def _serve_api(self, stack: AsyncExitStack, stage: Stage) -> str | None:
        if (port := self._config.api_port) is None:
            return None
        # Its web server takes long to import, and most sessions have no use for it.
        from clawbench.environments.browser.api import build_app, serve_api
        from clawbench.environments.browser.api.session import SessionRecording

        recording = SessionRecording(
            stage.recorder,
            stage.video,
            intercepted=lambda: stage.interceptor.matched is not None,
            on_stop=lambda detail: self._say("stop_requested", detail=detail),
            on_notice=self.notice,
            on_failure=self._failed,
        )
        token = self._config.api_token.get_secret_value()
        api = serve_api(lambda token: build_app(recording, token), token, port)
        return (await stack.enter_async_context(api)).url

    async def _closing_moment(self) -> None:
        """After a match the recording goes on until the page is quiet."""
        if self._closing is not None:
            await self._closing

    # -- what the parts report ---------------------------------------------------------------------

    def _watchers(self) -> Watchers:
        return Watchers(
            progress=lambda actions, requests: self._progress(actions=actions, requests=requests),
            commanded=lambda commands: self._progress(commands=commands),
            matched=self._matched,
            failed=self._failed,
            browser_gone=self._browser_gone,
            noticed=self.notice,
        )

    def notice(self, detail: str) -> None:
        """Something that the record should say, once."""
        if detail not in self._notices and len(self._notices) < MOST_NOTICES:
            self._notices.append(detail)
            log.warning("%s", detail)
            self._say("notice", detail=detail)

    def _matched(self, request: InterceptedRequest) -> None:
        self._say("intercepted", detail=f"{request.method} {request.url}"[:500])
        if self._stage is not None:
            quiet = self._stage.video.quiet(QUIET_S, self._config.closing_moment_s)
            self._closing = asyncio.create_task(quiet)

    def _failed(self, detail: str) -> None:
        if self._over.done():
            self.notice(detail)
        self.end(StopReason.ERROR, detail, SessionEvent(event="failed", detail=detail))

    def _browser_gone(self, detail: str) -> None:
        if self._config.view == "control" and detail == CLOSED:
            detail = "The person closed the browser."
            self.end(StopReason.HUMAN_LEFT, detail, SessionEvent(event="human_left", detail=detail))
        self.end(StopReason.BROWSER_CRASHED, detail, SessionEvent(event="browser_crashed", detail=detail))

    def _progress(self, **counts: int) -> None:
        self._counts.update(counts)
        if self._progress_due is None:
            self._progress_due = self._loop.call_later(PROGRESS_EVERY_S, self._say_progress)

    def _say_progress(self) -> None:
        self._progress_due = None
        self._say("progress")

    # -- what the runner sees ----------------------------------------------------------------------

    def _say(self, event: Any, **fields: Any) -> None:
        self._emit(SessionEvent(event=event, **fields))

    def _emit(self, event: SessionEvent) -> None:
        line = event.model_copy(update=self._counts).model_dump_json()
        with suppress(OSError):
            os.write(sys.stdout.fileno(), line.encode() + b"\n")

    def _write_outcome(self, end: End) -> None:
        if self._stage is not None and self._stage.interceptor.matched is not None:
            return
        outcome = NotIntercepted(stop_reason=end.reason, stop_description=end.description)
        try:
            write_json(self._run.interception, outcome.model_dump(mode="json"))
        except OSError as error:
            log.error("%s: %s", self._run.interception, error)  # the runner tries again


def explain(error: Exception) -> str:
    """An error in words a user can act on."""
    return str(error) if isinstance(error, ClawbenchError) else f"{type(error).__name__}: {error}"


async def obey(session: Session, commands: asyncio.StreamReader) -> None:
    """Follow the runner's commands; the end of its pipe means that it died."""
    while line := await commands.readline():
        try:
            command = SessionCommand.model_validate_json(line)
            session.end(StopReason(command.reason), command.description)
        except ValueError as error:
            log.error("not a command: %s", error)
    session.end(StopReason.ERROR, "The runner ended without a word.")


async def serve(own_ipc: bool) -> bool:
    """One session over stdin and stdout; True where nothing failed."""
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader(limit=LONGEST_LINE)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    try:
        config = SessionConfig.model_validate_json(await commands.readline())
    except ValidationError as error:
        event = SessionEvent(event="failed", detail=f"The session's configuration is not valid: {error}")
        print(event.model_dump_json(), flush=True)
        return False
    session = Session(config.model_copy(update={"own_ipc": own_ipc}))
    obeying = asyncio.create_task(obey(session, commands))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, session.end, StopReason.CANCELLED, f"Got {number.name}.")
    try:
        return await session.run()
    finally:
        obeying.cancel()
        transport.close()


def main() -> None:
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("websockets").setLevel(logging.WARNING)
    own_ipc = enter_own_ipc()
    sys.exit(0 if asyncio.run(serve(own_ipc)) else 1)


if __name__ == "__main__":
    main()
