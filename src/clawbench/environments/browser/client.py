"""The runner's side of a browser session."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from pydantic import ValidationError

from clawbench.environments.browser.protocol import SessionCommand, SessionConfig, SessionEvent
from clawbench.errors import EnvironmentFailedError
from clawbench.results import StopReason

MODULE = "clawbench.environments.browser.session"
LONGEST_LINE = 16 << 20
BEFORE_READY = ("progress", "notice")
"""What a session may say while it starts: pages that were open already are loaded again."""
STOP_TIMEOUT_S = 60.0
"""A session that does not close within this time is killed."""


class BrowserSession:
    """Starts the session process and hands on what it says."""

    def __init__(self, stderr: Path, on_spawn: Callable[[int], None] | None = None) -> None:
        """`stderr` receives what the session process logs; `on_spawn` its pid as soon as it exists."""
        self._log = stderr
        self._on_spawn = on_spawn
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[SessionEvent | None] = asyncio.Queue()
        self._first: asyncio.Future[SessionEvent] | None = None
        self._last: asyncio.Future[SessionEvent] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the session was not started"
        return self._process.pid

    async def start(self, config: SessionConfig) -> SessionEvent:
        """Return the `ready` event; EnvironmentFailedError says why there is none."""
        loop = asyncio.get_running_loop()
        self._first, self._last = loop.create_future(), loop.create_future()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", MODULE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        if self._on_spawn is not None:
            self._on_spawn(self._process.pid)
        self._reading = asyncio.create_task(self._read())
        self._write(config.for_the_session())
        try:
            first = await self._first
        except asyncio.CancelledError:
            await self.kill()
            raise
        if first.event != "ready":
            await self._gone()
            raise EnvironmentFailedError(
                f"The browser session did not start: {first.detail or first.event}. See {self._log}."
            )
        return first

    async def events(self) -> AsyncIterator[SessionEvent]:
        """What happens, from `ready` up to and with `closed` (or `failed`, where the session died)."""
        while (event := await self._queue.get()) is not None:
            yield event

    async def stop(self, reason: StopReason, description: str = "") -> SessionEvent:
        """End the session in good order; returns its last event: `closed`, or `failed` where it died."""
        assert self._last is not None, "the session was not started"
        self._write(SessionCommand(command="stop", reason=reason, description=description).model_dump_json())
        try:
            last = await asyncio.wait_for(asyncio.shield(self._last), STOP_TIMEOUT_S)
        except TimeoutError:
            await self.kill()
            detail = f"The browser session did not end within {STOP_TIMEOUT_S:g} s and was killed"
            last = SessionEvent(event="failed", detail=detail)
        await self._gone()
        return last

    async def kill(self) -> None:
        """End it now; the browser loses its network and ends with it."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._gone()

    async def _gone(self) -> None:
        if self._reading is not None:
            await self._reading

    def _write(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(line.encode() + b"\n")

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        last: SessionEvent | None = None
        async for line in self._process.stdout:
            try:
                event = SessionEvent.model_validate_json(line)
            except ValidationError:
                continue
            self._deliver(event)
            last = event
        code = await self._process.wait()
        if last is None or last.event != "closed":
            detail = f"The browser session's process {_in_words(code)}"
            if last is not None and last.event == "failed":
                detail = last.detail
            last = SessionEvent(event="failed", detail=detail)
            self._deliver(last)
        self._settle(last)

    def _deliver(self, event: SessionEvent) -> None:
        assert self._first is not None
        if not self._first.done() and event.event not in BEFORE_READY:
            self._first.set_result(event)
        self._queue.put_nowait(event)

    def _settle(self, last: SessionEvent) -> None:
        assert self._last is not None
        if not self._last.done():
            self._last.set_result(last)
        self._queue.put_nowait(None)
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()


def _in_words(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
