"""websocket.jsonl: every frame of a WebSocket and every message of an EventSource, as they pass."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clawbench.environments.browser.cdp import EventHandler
from clawbench.environments.browser.recorder.lines import RecordFile

PAYLOAD_LENGTH = 16_384
"""Characters of a payload that are kept; of a binary one, of its base64."""
TEXT_FRAME = 1
SENT, RECEIVED = "sent", "received"


class FrameLog:
    """Remembers which connection has which URL; the file is there once there is something to write."""

    def __init__(self, path: Path, on_problem: Callable[[str], None] | None = None) -> None:
        self._path, self._on_problem = path, on_problem
        self._lines: RecordFile | None = None
        self._urls: dict[str, str] = {}

    def handlers(self) -> list[tuple[str, EventHandler]]:
        """What to call for which CDP event."""
        return [
            ("Network.webSocketCreated", self._opened),
            ("Network.webSocketFrameSent", lambda params, _: self._frame(SENT, params)),
            ("Network.webSocketFrameReceived", lambda params, _: self._frame(RECEIVED, params)),
            ("Network.webSocketClosed", self._closed),
            ("Network.responseReceived", self._answered),
            ("Network.eventSourceMessageReceived", self._message),
        ]

    def close(self) -> None:
        if self._lines is not None:
            self._lines.close()

    def _opened(self, params: dict[str, Any], _session: str | None) -> None:
        self._urls[params["requestId"]] = params["url"]

    def _answered(self, params: dict[str, Any], _session: str | None) -> None:
        if params.get("type") == "EventSource":
            self._urls[params["requestId"]] = params["response"]["url"]

    def _closed(self, params: dict[str, Any], _session: str | None) -> None:
        self._urls.pop(params["requestId"], None)

    def _frame(self, direction: str, params: dict[str, Any]) -> None:
        frame = params["response"]
        payload, opcode = frame["payloadData"], int(frame["opcode"])
        size = len(payload) if opcode == TEXT_FRAME else len(base64.b64decode(payload))
        line = {"transport": "websocket", "direction": direction, "opcode": opcode}
        self._write(params, line, payload, size)

    def _message(self, params: dict[str, Any], _session: str | None) -> None:
        line = {"transport": "eventsource", "direction": RECEIVED, "event": params["eventName"]}
        self._write(params, line, params["data"], len(params["data"]))

    def _write(self, params: dict[str, Any], line: dict[str, Any], payload: str, size: int) -> None:
        if self._lines is None:
            self._lines = RecordFile(self._path, self._on_problem)
        whole = {"timestamp": time.time(), "url": self._urls.get(params["requestId"], ""), **line}
        whole |= {"payload": payload[:PAYLOAD_LENGTH], "size": size, "id": params["requestId"]}
        self._lines.append(whole)
