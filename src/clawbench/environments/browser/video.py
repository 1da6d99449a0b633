"""The video of a session: the screen at each step of a 1/15 s grid where it changed, and nothing between."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clawbench.environments.browser.encoder import Encoder, EncoderDied, Picture
from clawbench.environments.browser.frame import Frames
from clawbench.environments.browser.mp4 import Mp4Writer
from clawbench.environments.browser.pixels import changed_rows, changed_width
from clawbench.environments.browser.screen import Screen
from clawbench.errors import MissingPartError

FRAMES_PER_SECOND = 15
CURSOR_WIDTH, CURSOR_HEIGHT = 4, 120
"""Pixels: the largest change that may be a blinking text cursor."""
MOST_RESTARTS = 5
"""An encoder that ends this often is not started again."""
BEGIN_WITHIN_S = 20.0
"""A session whose encoder has not taken its first frame by then goes on without waiting for it."""


class Video:
    """Films a screen into an MP4 file on threads of its own, so that the event loop never waits for it.

    Where the encoder is behind, the camera thread waits for it and then takes what the screen shows by then:
    only frames in between are left out, never the last.
    """

    def __init__(
        self,
        screen: Screen,
        path: Path,
        *,
        ffmpeg: str = "ffmpeg",
        fps: int = FRAMES_PER_SECOND,
        on_problem: Callable[[str], None] | None = None,
        on_unwritable: Callable[[str], None] | None = None,
    ) -> None:
        """`on_problem` hears of all that went wrong, `on_unwritable` where the file could not be written."""
        self.started_at = 0.0
        """Epoch seconds of the video's timestamp zero."""
        self.problems: list[str] = []
        """What went wrong with the recording so far, in words."""
        self._screen, self._path, self._ffmpeg, self._fps = screen, path, ffmpeg, fps
        self._on_problem, self.on_unwritable = on_problem, on_unwritable
        self._begun, self._stopping = threading.Event(), threading.Event()
        self._changed_at = self._looked_at = 0.0
        self._last_step = -1
        self._restarts = 0
        self._encoder: Encoder | None = None
        self._camera: threading.Thread | None = None

    @property
    def encoder_pid(self) -> int | None:
        return self._encoder.pid if self._encoder else None

    async def prepare(self) -> None:
        """Start the encoder, which takes a moment to be up, before there is anything to film."""
        self._loop = asyncio.get_running_loop()
        self._frames = await asyncio.to_thread(Frames, self._screen)
        self._file = Mp4Writer(self._path, self._screen.size, self._fps)
        try:
            self._encoder = await asyncio.to_thread(self._start_encoder)
        except BaseException:
            self._file.close()
            raise

    def abandon(self) -> None:
        """Undo `prepare` where filming never began."""
        if self._camera is None and self._encoder is not None:
            self._encoder.close()
            self._file.close()
            self._encoder = None

    async def start(self) -> None:
        """Begin; the first frame is what the screen shows now, and is with the encoder on return.

        Until the encoder is up, the camera waits for it and would miss what changes.
        """
        if self._encoder is None:
            await self.prepare()
        self.started_at, self._zero = time.time(), time.monotonic()
        self._changed_at = self._looked_at = self._zero
        self._camera = threading.Thread(target=self._film, name="video-camera", daemon=True)
        self._camera.start()
        try:
            await asyncio.to_thread(self._begun.wait, BEGIN_WITHIN_S)
        except asyncio.CancelledError:
            self._stopping.set()
            raise

    async def stop(self) -> None:
        """Write the closing frame and the index. What went wrong on the way is in `problems`."""
        self._stopping.set()
        if self._camera is not None:
            await asyncio.to_thread(self._camera.join)

    async def quiet(self, for_s: float, at_most_s: float) -> bool:
        """Wait until the screen has stood still for `for_s`; False where `at_most_s` passed before that.

        A blinking text cursor does not count.
        """
        deadline = time.monotonic() + at_most_s
        # A camera that waits for its encoder sees nothing: only what it looked at counts as still.
        while (still_for := self._looked_at - self._changed_at) < for_s:
            wait = min(max(for_s - still_for, 1 / self._fps), deadline - time.monotonic())
            if wait <= 0:
                return False
            await asyncio.sleep(wait)
        return True

    def _film(self) -> None:
        self._frames.take()
        self._encode(0)
        self._begun.set()
        while not self._stopping.wait(self._until_next_step()):
            self._screen.calm.wait()
            if self._look():
                self._encode(self._step())
        self._look()
        end = max(self._step(), self._last_step + 1)
        self._encode(end)
        self._close(end + 1)

    def _look(self) -> bool:
        """Take the screen if it changed since the last look."""
        self._looked_at = time.monotonic()
        if not self._screen.differs(self._frames.shown):
            return False
        self._frames.take()
        if not self._only_a_cursor_blinked():
            self._changed_at = self._looked_at
        return True

    def _only_a_cursor_blinked(self) -> bool:
        """A text cursor blinks on a page that is quiet for all other purposes."""
        shown, before, stride = self._frames.shown, self._frames.before, self._screen.stride
        rows = changed_rows(shown, before, stride)
        if len(rows) > CURSOR_HEIGHT:
            return False
        return changed_width(shown, before, stride, rows) <= CURSOR_WIDTH

    def _step(self) -> int:
        return int((time.monotonic() - self._zero) * self._fps)

    def _until_next_step(self) -> float:
        upcoming = max(self._step(), self._last_step) + 1
        return max(0.0, self._zero + upcoming / self._fps - time.monotonic())

    def _encode(self, step: int) -> None:
        while self._encoder is not None:
            try:
                self._encoder.write(step, self._frames.picture)
            except EncoderDied as death:
                self._report(str(death))
                self._encoder = self._replacement()
            else:
                break
        self._last_step = step

    def _start_encoder(self) -> Encoder:
        return Encoder(
            self._ffmpeg,
            self._screen.size,
            self._frames.format,
            self._fps,
            on_configuration=self._begin_file,
            on_picture=self._keep,
        )

    def _replacement(self) -> Encoder | None:
        self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            return None
        try:
            return self._start_encoder()
        except MissingPartError as error:
            self._report(str(error))
            return None

    def _begin_file(self, configuration: bytes) -> None:
        with self._disk_trouble_reported():
            self._file.configure(configuration)

    def _keep(self, picture: Picture) -> None:
        with self._disk_trouble_reported():
            self._file.append(picture.step, picture.key, picture.data)

    @contextmanager
    def _disk_trouble_reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._report(f"{self._path}: {error.strerror}", self.on_unwritable)

    def _close(self, end: int) -> None:
        if self._encoder is not None and (complaint := self._encoder.close()):
            self._report(complaint)
        with self._disk_trouble_reported():
            self._file.finish(end)
        self._file.close()

    def _report(self, problem: str, also: Callable[[str], None] | None = None) -> None:
        if problem in self.problems:
            return
        self.problems.append(problem)
        for listener in (self._on_problem, also):
            if listener is not None:
                self._loop.call_soon_threadsafe(listener, problem)
