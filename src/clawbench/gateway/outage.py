"""When to say that a model cannot be reached. Pure."""

from __future__ import annotations

import json

HARD_FAILURES = 5
"""Calls in a row that the API refused or did not answer."""
SOFT_FAILURES = 20
"""Calls in a row where some were only told to come later."""

TOLD_TO_WAIT = frozenset({429, 529})
BAD_REQUEST = 400
_REFUSED = frozenset({401, 402, 403, 404, 408})


class Outage:
    """Counts failures in a row; one answer that shows the model at work starts again."""

    def __init__(self) -> None:
        self._hard = 0
        self._all = 0
        self.last_failure: str | None = None
        """What the last call said, if it failed upstream; None after a good one."""

    def note(self, *, status: int | None, unreachable: bool, error: str | None, body: bytes = b"") -> None:
        hard = unreachable or _is_hard(status, body)
        if not hard and status not in TOLD_TO_WAIT:
            self._hard, self._all, self.last_failure = 0, 0, None
            return
        self._hard += hard
        self._all += 1
        self.last_failure = error

    @property
    def verdict(self) -> str | None:
        """Why the model counts as unreachable, in words."""
        if self._hard < HARD_FAILURES and self._all < SOFT_FAILURES:
            return None
        return f"{self._all} model calls in a row failed, the last with: {self.last_failure}"


def _is_hard(status: int | None, body: bytes) -> bool:
    if status is None:
        return False
    if status in TOLD_TO_WAIT or status == BAD_REQUEST:
        return about_the_account(body)
    return status in _REFUSED or status >= 500


def about_the_account(body: bytes) -> bool:
    """No credit, or a bad key: some providers say so with a status that means something else."""
    try:
        error = json.loads(body)["error"]
        reasons = [detail.get("reason") for detail in error.get("details") or []]
        return (
            "insufficient_quota" in (error.get("code"), error.get("type"))
            or "API_KEY_INVALID" in reasons
            or "credit balance is too low" in str(error.get("message"))
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
