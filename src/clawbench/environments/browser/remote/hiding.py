"""Keeping an address that lets people in out of what this process logs."""

from __future__ import annotations

import logging

from clawbench.environments.browser.remote.endpoint import secret_parts

MASK = "***"


class _Hiding(logging.Formatter):
    """Formats as another formatter does, without the secrets."""

    def __init__(self, inner: logging.Formatter | None, secrets: list[str]) -> None:
        super().__init__()
        self._inner, self._secrets = inner or logging.Formatter(), secrets

    def format(self, record: logging.LogRecord) -> str:
        text = self._inner.format(record)
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text


def hide_in_logs(url: str) -> None:
    """From now on no part of this address appears in this process's log, whoever logs it."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Hiding(handler.formatter, secret_parts(url)))
