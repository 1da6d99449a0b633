"""The files of a person's recording, written by the recorder's own means."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from clawbench.environments.browser.api.guard import Refusal
from clawbench.environments.browser.api.messages import NewAction, NewScreenshot, SentRequest
from clawbench.environments.browser.gate.bodies import Body
from clawbench.environments.browser.recorder.actions import Timeline, action_line
from clawbench.environments.browser.recorder.requests import request_line
from clawbench.environments.browser.recorder.screenshots import Names, duplicate, write_picture
from clawbench.results import JsonLines, RunDirectory


class Journal:
    """Writes actions.jsonl, requests.jsonl and screenshots/ of one recording."""

    def __init__(self, run: RunDirectory, *, show_secrets: bool) -> None:
        self.actions = self.requests = self.screenshots = 0
        self._show_secrets = show_secrets
        self._directory = run.screenshots
        self._directory.mkdir(parents=True, exist_ok=True)
        self._action_lines, self._request_lines = JsonLines(run.actions), JsonLines(run.requests)
        self._timeline, self._names = Timeline(), Names()
        self._began = time.time()
        self._awaited: dict[str, None] = {}
        """Names that actions were given and that no picture has come for yet, in order."""

    def add_action(self, action: NewAction) -> str:
        timestamp = self._timeline.place(action.timestamp, time.time() * 1000)
        screenshot = self._names.next(timestamp)
        line = action_line(
            action.model_dump(mode="json"),
            timestamp=timestamp,
            frame=action.frame,
            screenshot=screenshot,
            show_secrets=self._show_secrets,
        )
        self._action_lines.append(line)
        self.actions += 1
        self._awaited[screenshot] = None
        return screenshot

    def add_screenshot(self, screenshot: NewScreenshot, png: bytes) -> list[str]:
        for name in screenshot.names:
            if name not in self._awaited:
                raise Refusal(409, f"names: no action waits for {name[:50]!r}")
        taken_at = screenshot.timestamp or 0.0
        names = screenshot.names or [self._names.next(self._timeline.place(taken_at, time.time() * 1000))]
        first, *others = [self._directory / name for name in dict.fromkeys(names)]
        write_picture(first, png)
        for path in others:
            duplicate(first, path)
        for name in names:
            self._awaited.pop(name, None)
        self.screenshots += 1 + len(others)
        return [first.name, *(path.name for path in others)]

    def add_request(self, sent: SentRequest, headers: dict[str, str], body: Body) -> None:
        request = {"url": sent.url, "method": sent.method, "headers": headers}
        line = request_line(sent.id, request, sent.resource_type, sent.frame, self._moment(sent.timestamp))
        more: dict[str, Any] = {"body": body.value} | ({"blocked": True} if sent.blocked else {})
        self._request_lines.append(line | more)
        self.requests += 1

    def close(self) -> int:
        """Give each action without a picture its neighbour's; returns how many have none at all."""
        self._action_lines.close()
        self._request_lines.close()
        pictures = sorted(self._directory.glob("*.png"), key=_taken_at)
        for name in self._awaited if pictures else ():
            path = self._directory / name
            earlier = [picture for picture in pictures if _taken_at(picture) <= _taken_at(path)]
            duplicate(earlier[-1] if earlier else pictures[0], path)
            self.screenshots += 1
        return 0 if pictures else len(self._awaited)

    def _moment(self, milliseconds: float) -> float:
        """Epoch seconds within the recording."""
        return min(max(milliseconds / 1000, self._began), time.time())


def _taken_at(path: Path) -> tuple[int, int]:
    moment, _, number = path.stem.partition("-")
    return int(moment), int(number or 1)
