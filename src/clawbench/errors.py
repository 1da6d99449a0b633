"""Everything Clawbench raises on purpose. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path


class ClawbenchError(Exception):
    """Base of all errors that a user should see as a message, not as a traceback."""

    exit_code = 1


class InputError(ClawbenchError):
    """Something the user gave (file, field, flag) cannot be used; nothing has started yet."""

    exit_code = 2

    def __init__(
        self, problem: str, *, remedy: str, file: Path | str | None = None, field: str | None = None
    ) -> None:
        self.problem, self.remedy, self.file, self.field = problem, remedy, file, field
        where = ": ".join(str(part) for part in (file, field) if part)
        super().__init__(f"{where + ': ' if where else ''}{problem}. {remedy}")


class MissingPartError(ClawbenchError):
    """A program or kernel feature that this run needs is not there."""

    exit_code = 2

    def __init__(self, part: str, why: str, remedy: str) -> None:
        self.part, self.why, self.remedy = part, why, remedy
        super().__init__(f"{part} is missing ({why}). {remedy}")


class SandboxError(ClawbenchError):
    """The sandbox could not be built or did not hold."""


class EnvironmentFailedError(ClawbenchError):
    """The browser or repository environment could not be brought up, or broke; the run ends `error`."""
