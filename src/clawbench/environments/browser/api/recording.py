"""What the API writes to: an ordinary session's recorder, or the record of a person's own browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from clawbench.environments.browser.api.messages import (
    NewAction,
    NewScreenshot,
    Readiness,
    SentRequest,
    Status,
)


class Recording(Protocol):
    """Anything that can be added to and ended from outside."""

    def status(self) -> Status: ...

    def add_action(self, action: NewAction) -> str:
        """Write the action down; returns the name of its screenshot. Refusal where nothing is recorded."""
        ...

    def add_screenshot(self, screenshot: NewScreenshot, png: bytes) -> list[str]:
        """Keep the picture; returns the names of the files that hold it."""
        ...

    async def stop_recording(self) -> None:
        """Take in no more; the session itself goes on."""
        ...

    def stop(self, description: str) -> None:
        """The one at the browser has finished."""
        ...

    def report(self, problem: str) -> None:
        """Something could not be kept: the record says so."""
        ...


class ExtensionRecording(Recording, Protocol):
    """A person's own browser: the extension tells of requests, and holds the final one."""

    async def add_request(self, request: SentRequest) -> str:
        """Write the request down; returns what it is: `pass`, `held` (needlessly), `match`."""
        ...

    def arm(self, readiness: Readiness) -> None:
        """The extension says whether it holds the final request from now on."""
        ...

    def live(self) -> AsyncIterator[str]:
        """Lines for the extension for as long as it listens: signs of life, and the end."""
        ...
