"""What became of a request: status, timing, failure. Known later than its line is written. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

CACHES = {
    "fromServiceWorker": "service_worker",
    "fromDiskCache": "disk_cache",
    "fromPrefetchCache": "prefetch_cache",
}
NETWORK, MEMORY_CACHE = "network", "memory_cache"
WITHOUT_BODY = (204, 205)
PROXY = "_SOCKS_"


@dataclass(slots=True)
class Outcome:
    """Filled from network events as they come; `*_ms` count from the moment the page asked."""

    status: int | None = None
    mime_type: str | None = None
    protocol: str | None = None
    """`http/1.1`, `h2`, …"""
    served_from: str | None = None
    response_size: int | None = None
    """Bytes that came over the wire, headers included."""
    sent_ms: float | None = None
    """When it was put on the wire."""
    response_ms: float | None = None
    """When the head of the response was there."""
    finished_ms: float | None = None
    """When its end was there, or it had failed."""
    failure: str | None = None
    """Why there is no response, in the browser's words."""
    blocked: bool | None = None
    """True: it matched the eval schema, or could not be decided, and was held back by us."""

    asked_at: float | None = None
    """On the browser's own clock, in seconds."""

    def fields(self) -> dict[str, Any]:
        """What is known, as it stands in requests.jsonl."""
        known = {name: getattr(self, name) for name in PUBLISHED}
        return {name: value for name, value in known.items() if value is not None}

    def asked(self, params: dict[str, Any]) -> None:
        """Network.requestWillBeSent, Network.webSocketWillSendHandshakeRequest"""
        if self.asked_at is None:
            self.asked_at = params.get("timestamp")

    def answered(self, params: dict[str, Any], response: dict[str, Any]) -> None:
        """Network.responseReceived and its like, or the redirect that a later event tells of."""
        self.status = response.get("status")
        self.mime_type = response.get("mimeType") or None
        self.protocol = response.get("protocol") or None
        self.served_from = self.served_from or _source(response)
        self.response_ms = self._since(params.get("timestamp"))
        if (timing := response.get("timing")) and timing.get("sendStart", -1) >= 0:
            # The event itself comes through the page, which may be busy.
            self.sent_ms = self._since(timing["requestTime"] + timing["sendStart"] / 1000)
            self.response_ms = self._since(timing["requestTime"] + timing["receiveHeadersEnd"] / 1000)

    def redirected(self, params: dict[str, Any]) -> None:
        """The Network.requestWillBeSent event of the leg after this one."""
        response = params["redirectResponse"]
        self.answered(params, response)
        self.finished_ms, self.response_size = self.response_ms, _size(response)

    def finished(self, params: dict[str, Any]) -> None:
        """Network.loadingFinished, Network.webSocketClosed"""
        self.finished_ms = self._since(params.get("timestamp"))
        self.response_size = _size(params)

    def failed(self, params: dict[str, Any], of_the_way: str | None = None) -> None:
        """Network.loadingFailed; `of_the_way`: why the browser's proxy did not reach the site."""
        self.finished_ms = self._since(params.get("timestamp"))
        if self.status in WITHOUT_BODY:
            return  # all there was has come: the browser puts it like that where nobody reads the rest
        text = params.get("errorText") or "blocked"
        reason = params.get("blockedReason") or (params.get("corsErrorStatus") or {}).get("corsError")
        self._fail(text, of_the_way if PROXY in text else reason)

    def socket_failed(self, params: dict[str, Any], of_the_way: str | None = None) -> None:
        """Network.webSocketFrameError"""
        text = params["errorMessage"]
        self._fail(text, of_the_way if PROXY in text else None)

    def _fail(self, text: str, reason: str | None) -> None:
        self.failure = f"{text} ({reason})" if reason else text

    def _since(self, moment: float | None) -> float | None:
        if moment is None or self.asked_at is None:
            return None
        return round(max(0.0, moment - self.asked_at) * 1000, 1)


PUBLISHED = (
    *("status", "mime_type", "protocol", "served_from", "response_size"),
    *("sent_ms", "response_ms", "finished_ms", "failure", "blocked"),
)


def with_outcome(line: bytes, outcome: Outcome | None) -> bytes:
    """A line of requests.jsonl with what became of its request; nothing else in it changes."""
    fields = outcome.fields() if outcome is not None else {}
    if not fields or not line.endswith(b"}\n"):
        return line
    added = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return line[:-2] + b"," + added[1:] + b"\n"


def _source(response: dict[str, Any]) -> str:
    return next((name for flag, name in CACHES.items() if response.get(flag)), NETWORK)


def _size(params: dict[str, Any]) -> int | None:
    size = params.get("encodedDataLength")
    return None if size is None or size < 0 else int(size)
