"""The files of a person's recording, written by the recorder's own means."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clawbench.environments.browser.api.guard import Refusal
from clawbench.environments.browser.api.messages import NewAction, NewScreenshot, SentRequest
from clawbench.environments.browser.gate.bodies import Body
from clawbench.environments.browser.recorder.action_log import ActionLog
from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.environments.browser.recorder.requests import request_line
from clawbench.environments.browser.recorder.screenshots import Names, duplicate, write_picture
from clawbench.results import RunDirectory


class Journal:
    """Writes actions.jsonl, requests.jsonl and screenshots/ of one recording."""

    def __init__(
        self,
        run: RunDirectory,
        *,
        show_secrets: bool,
        on_line: Callable[[], None],
        on_problem: Callable[[str], None],
    ) -> None:
        self.screenshots = 0
        self._directory = run.screenshots
        self._directory.mkdir(parents=True, exist_ok=True)
        self._on_line = on_line
        self._actions = ActionLog(
            run.actions, show_secrets=show_secrets, on_line=on_line, on_problem=on_problem
        )
        self._requests = RecordFile(run.requests, on_problem)
        self._names = Names()
        self._began = time.time()
        self._awaited: dict[str, None] = {}
        """Names that actions were given and that no picture has come for yet, in order."""

    @property
    def actions(self) -> int:
        return self._actions.count

    @property
    def requests(self) -> int:
        return self._requests.count

    def add_action(self, action: NewAction) -> str:
        seen = action.model_dump(mode="json") | {"time": action.timestamp}
        pending = self._actions.put(seen, action.frame, self._names.next, source=action.frame)
        self._actions.write_ready()
        self._awaited[pending.screenshot] = None
        return pending.screenshot

    def add_screenshot(self, screenshot: NewScreenshot, png: bytes) -> list[str]:
        for name in screenshot.names:
            if name not in self._awaited:
                raise Refusal(409, f"names: no action waits for {name[:50]!r}")
        names = screenshot.names or [self._names.next(self._actions.place(screenshot.timestamp or 0.0))]
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
        self._requests.append(line | more)
        self._on_line()

    def close(self) -> int:
        """Give each action without a picture its neighbour's; returns how many have none at all."""
        self._actions.close()
        self._requests.close()
        pictures = sorted(self._directory.glob("*.png"), key=_taken_at)
        if not pictures:
            return len(self._awaited)
        for path in (self._directory / name for name in self._awaited):
            earlier = bisect_right(pictures, _taken_at(path), key=_taken_at)
            duplicate(pictures[max(0, earlier - 1)], path)
            self.screenshots += 1
        return 0

    def _moment(self, milliseconds: float) -> float:
        """Epoch seconds within the recording."""
        return min(max(milliseconds / 1000, self._began), time.time())


def _taken_at(path: Path) -> tuple[int, int]:
    moment, _, number = path.stem.partition("-")
    return int(moment), int(number or 1)
