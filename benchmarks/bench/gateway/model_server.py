"""A model's API that answers at once, in a process of its own: `python model_server.py`; prints its port.

What it plays is in the prompt: `play STREAM CHUNKS PER_SECOND`. Every chunk holds the time it was sent. `GET
/digest/STREAM` gives the sha256 of all that was sent in that stream.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time

_PLAY = re.compile(rb"play (\d+) (\d+) (\d+)")
_USAGE = {"prompt_tokens": 2500, "completion_tokens": 20, "total_tokens": 2520}
_HEAD = {"id": "chatcmpl-1", "created": 1, "model": "bench"}
_DIGESTS: dict[int, str] = {}


def whole(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _USAGE}).encode()


def event(choices: list[dict[str, object]], **more: object) -> bytes:
    payload = {**_HEAD, "object": "chat.completion.chunk", "choices": choices, **more}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def piece(stream: int, number: int) -> bytes:
    said = f"<{stream}:{number}:{time.monotonic_ns()}>"
    return event([{"index": 0, "delta": {"content": said}, "finish_reason": None}])


class Server(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._streaming: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._streaming is not None:
            self._streaming.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        found = re.search(rb"content-length: *(\d+)", head.lower())
        size = int(found[1]) if found else 0
        if end and len(body) >= size:
            self._received = body[size:]
            self._answer(head.split(b" ")[1].decode(), bytes(body[:size]))

    def _answer(self, path: str, body: bytes) -> None:
        if path.startswith("/digest/"):
            self._say(json.dumps(_DIGESTS.get(int(path.rpartition("/")[2]))).encode())
        elif b'"stream": true' in body or b'"stream":true' in body:
            found = _PLAY.findall(body)[-1]
            self._streaming = asyncio.ensure_future(self._stream(*(int(number) for number in found)))
        else:
            self._say(whole("Ready."))

    def _say(self, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)

    async def _stream(self, stream: int, chunks: int, per_second: int) -> None:
        digest, loop = hashlib.sha256(), asyncio.get_running_loop()
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        self._transport.write(head.encode())
        began = loop.time()
        for number in range(chunks):
            await asyncio.sleep(max(0.0, began + number / per_second - loop.time()))
            self._send(piece(stream, number), digest)
        self._send(event([{"index": 0, "delta": {}, "finish_reason": "stop"}]), digest)
        self._send(event([], usage=_USAGE) + b"data: [DONE]\n\n", digest)
        _DIGESTS[stream] = digest.hexdigest()
        self._transport.write(b"0\r\n\r\n")

    def _send(self, data: bytes, digest: hashlib._Hash) -> None:
        digest.update(data)
        self._transport.write(b"%x\r\n%s\r\n" % (len(data), data))


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
