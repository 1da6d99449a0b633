"""The API over an ordinary session: outside tools may add to its record, and ask for its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clawbench.environments.browser.api.guard import Refusal
from clawbench.environments.browser.api.messages import NewAction, NewScreenshot, Status
from clawbench.environments.browser.recorder import Recorder
from clawbench.environments.browser.video import Video
from clawbench.results import cannot_be_kept

SOURCE = "api"
"""Marks lines of actions.jsonl that the recorder did not see itself."""


@dataclass(frozen=True)
class SessionRecording:
    """A session's recorder as the API sees it."""

    recorder: Recorder
    video: Video
    intercepted: Callable[[], bool]
    on_stop: Callable[[str], None]
    on_notice: Callable[[str], None]
    on_failure: Callable[[str], None]

    def status(self) -> Status:
        return Status(
            state="stopped" if self.recorder.closed else "recording",
            actions=self.recorder.actions,
            requests=self.recorder.requests,
            screenshots=self.recorder.screenshots,
            intercepted=self.intercepted(),
        )

    def add_action(self, action: NewAction) -> str:
        self._require_recording()
        seen = action.model_dump(mode="json") | {"time": action.timestamp, "source": SOURCE}
        return self.recorder.add_action(seen)

    def add_screenshot(self, screenshot: NewScreenshot, png: bytes) -> list[str]:
        self._require_recording()
        if screenshot.names:
            raise Refusal(409, "names: this session takes the screenshots of its actions itself")
        return [self.recorder.add_screenshot(screenshot.timestamp or 0.0, png)]

    async def stop_recording(self) -> None:
        self._require_recording()
        self.on_notice("The recording was stopped through the recorder API before the session's end.")
        await self.recorder.close()
        await self.video.stop()

    def stop(self, description: str) -> None:
        self.on_stop(f"Stopped through the recorder API{f': {description}' if description else ''}")

    def report(self, problem: str) -> None:
        self.on_failure(cannot_be_kept(problem))

    def _require_recording(self) -> None:
        if self.recorder.closed:
            raise Refusal(409, "the recording has ended")
