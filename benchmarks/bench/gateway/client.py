"""What a harness does, with as little time of its own as possible: calls in a row, and streams at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from bench.gateway.subjects import Subject

_MARK = re.compile(rb"<(\d+):(\d+):(\d+)>")
_PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}}
_TOOL = {"name": "shell", "description": "Run a command. " * 20, "parameters": _PARAMETERS}


def request(subject: Subject, say: str, *, turns: int = 10, stream: bool = False) -> bytes:
    """A request as an agent sends it after some turns: about ten kilobytes."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You repair programs. " * 100}]
    for turn in range(turns):
        arguments = json.dumps({"command": f"sed -n {turn},{turn + 20}p module.py"})
        called = {"name": "shell", "arguments": arguments}
        call = {"id": f"call_{turn}", "type": "function", "function": called}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": f"line {turn}\n" * 50})
    messages.append({"role": "user", "content": say})
    tools = [{"type": "function", "function": _TOOL}]
    body = json.dumps({"model": "bench", "messages": messages, "tools": tools, "stream": stream}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {subject.token}\r\n"
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def sequential(subject: Subject, numbers: range) -> list[float]:
    """Milliseconds of a call for each of the numbers, one after the other on one connection."""
    took = []
    with socket.create_connection(("127.0.0.1", subject.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in numbers:
            asked = request(subject, f"Go on, {number}.")
            began = time.perf_counter()
            connection.sendall(asked)
            _whole_answer(connection)
            took.append((time.perf_counter() - began) * 1000)
    return took


def _whole_answer(connection: socket.socket) -> None:
    received = b""
    while True:
        data = connection.recv(65536)
        if not data:
            raise ConnectionError("the connection was closed")
        received += data
        head, end, body = received.partition(b"\r\n\r\n")
        if not end:
            continue
        if not head.startswith(b"HTTP/1.1 200"):
            raise ValueError(received.decode())
        sized = re.search(rb"content-length: *(\d+)", head.lower())
        if (sized and len(body) >= int(sized[1])) or (not sized and body.endswith(b"0\r\n\r\n")):
            return


@dataclass
class Stream(asyncio.Protocol):
    """One streamed call: what came, and when."""

    number: int
    asked: bytes
    ended: asyncio.Future[None]
    pieces: list[tuple[int, bytes]] = field(default_factory=list)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self.asked)

    def data_received(self, data: bytes) -> None:
        self.pieces.append((time.monotonic_ns(), data))
        if data.endswith(b"0\r\n\r\n"):
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def delays_ms(self) -> list[float]:
        """From the moment a chunk was sent until it was here."""
        found = ((came, mark) for came, data in self.pieces for mark in _MARK.findall(data))
        return [(came - int(sent)) / 1e6 for came, (_, _, sent) in found]

    def digest(self) -> str:
        _, _, body = b"".join(data for _, data in self.pieces).partition(b"\r\n\r\n")
        content = hashlib.sha256()
        while body:
            size, _, rest = body.partition(b"\r\n")
            content.update(rest[: int(size, 16)])
            body = rest[int(size, 16) + 2 :]
        return content.hexdigest()


async def stream_all(subject: Subject, numbers: range, chunks: int, per_second: int) -> list[Stream]:
    """So many streams at once, until the last has ended."""
    loop = asyncio.get_running_loop()
    streams = []
    for number in numbers:
        asked = request(subject, f"play {number} {chunks} {per_second}", stream=True)
        stream = Stream(number, asked, loop.create_future())
        await loop.create_connection(lambda stream=stream: stream, "127.0.0.1", subject.port)  # type: ignore[misc]
        streams.append(stream)
    await asyncio.gather(*(stream.ended for stream in streams))
    return streams


def digest_sent(direct: Subject, number: int) -> str | None:
    """What the model's API says it sent."""
    with socket.create_connection(("127.0.0.1", direct.port)) as connection:
        connection.sendall(f"GET /digest/{number} HTTP/1.1\r\nhost: bench\r\n\r\n".encode())
        answer = connection.recv(65536)
    said: str | None = json.loads(answer.partition(b"\r\n\r\n")[2])
    return said
