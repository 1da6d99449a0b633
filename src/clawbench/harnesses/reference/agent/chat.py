"""Asking the model: chat completions over plain HTTP, with bounded retries."""

from __future__ import annotations

import asyncio
import email.utils
import http.client
import json
import random
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .background import in_thread
from .settings import Gateway

ATTEMPTS = 6
LONGEST_WAIT_S = 60.0
ANSWER_WITHIN_S = 900.0
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})

Message = dict[str, Any]


class ModelError(Exception):
    """The model gave no usable answer."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)

    @property
    def too_long(self) -> bool:
        """The conversation no longer fits the model's context."""
        text = str(self).lower()
        return self.status in (400, 413) and "context" in text and ("length" in text or "window" in text)


class _Retry(Exception):
    def __init__(self, error: ModelError, after_s: float | None = None) -> None:
        self.error, self.after_s = error, after_s


@dataclass(frozen=True)
class Answer:
    message: Message
    usage: dict[str, Any]
    finish_reason: str | None


class Chat:
    def __init__(self, gateway: Gateway, request: dict[str, Any]) -> None:
        self._gateway, self._request = gateway, request

    async def answer(self, messages: list[Message], tools: list[dict[str, Any]]) -> Answer:
        """One answer; connection errors, 429 and 5xx are tried again with growing pauses."""
        body = json.dumps({**self._request, "messages": messages, "tools": tools}).encode()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await in_thread(lambda: self._post(body))
            except _Retry as retry:
                if attempt == ATTEMPTS:
                    raise retry.error from None
                await asyncio.sleep(pause(attempt, retry.after_s))
        raise AssertionError("unreachable")

    def _post(self, body: bytes) -> Answer:
        url = urlsplit(self._gateway.base_url)
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        connection = kind(url.hostname or "", url.port, timeout=ANSWER_WITHIN_S)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._gateway.token}"}
        try:
            connection.request("POST", f"{url.path}/chat/completions", body, headers)
            response = connection.getresponse()
            return parse_answer(response.status, response.read(), response.getheader("Retry-After"))
        except (OSError, http.client.HTTPException) as error:
            raise _Retry(ModelError(f"the gateway cannot be reached ({error!r})")) from None
        finally:
            connection.close()


def parse_answer(status: int, body: bytes, retry_after: str | None = None) -> Answer:
    if status != 200:
        error = ModelError(f"HTTP {status}: {body[:2000].decode('utf-8', 'replace')}", status=status)
        raise _Retry(error, seconds_of(retry_after)) if status in RETRIED else error
    try:
        value = json.loads(body)
        choice = value["choices"][0]
        message = choice["message"]
        if not isinstance(message, dict):
            raise TypeError("message is not an object")
    except (ValueError, LookupError, TypeError) as error:
        shown = body[:500].decode("utf-8", "replace")
        raise _Retry(ModelError(f"not a chat completion ({error!r}): {shown}")) from None
    return Answer(message, value.get("usage") or {}, choice.get("finish_reason"))


def seconds_of(retry_after: str | None) -> float | None:
    """Retry-After as seconds from now: a number or an HTTP date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


def pause(attempt: int, asked_s: float | None) -> float:
    """How long to wait before the next attempt: what the server asked for, else doubling, with jitter."""
    wait = asked_s if asked_s is not None else 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)
    return min(wait, LONGEST_WAIT_S)
