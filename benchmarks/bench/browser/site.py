"""The site that both browsers visit, in a process of its own: `python site.py SOCKET` prints its port."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

SUB_RESOURCES = 200
PIXEL = b"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8'/></svg>"

ACTIONS = """<!doctype html><title>Actions</title><style>body { font: 24px sans-serif }
button, input { font: inherit; width: 600px; height: 80px; margin: 20px; display: block }</style>
<button id=count onclick="this.textContent = 'Pressed ' + ++pressed">Press</button><input id=text>
<script>pressed = 0</script>"""

STILL = "<!doctype html><title>Still</title><h1>A page to read</h1>" + "<p>Nothing moves here.</p>" * 20

BUSY = """<!doctype html><title>Busy</title><style>
body { margin: 0; overflow: hidden; font: 20px sans-serif }
div { position: absolute; width: 300px; height: 160px; animation: move 3s infinite alternate linear }
@keyframes move { to { transform: translateX(1500px); background: gold } }</style><script>
for (let n = 0; n < 5; n++) document.write(`<div style="top:${n * 190}px;background:hsl(${n * 70} 80% 60%);
animation-duration:${2 + n * 0.7}s">Moving thing number ${n}</div>`)</script>"""


def many_things() -> Iterator[str]:
    """A page with scripts, styles and pictures as shops have them."""
    yield "<!doctype html><title>Many</title><h1>A page of many parts</h1>"
    kinds = (
        *("<img src='/item/{}.svg'>", "<script src='/item/{}.js'></script>"),
        *("<link rel=stylesheet href='/item/{}.css'>", "<img src='/item/{}.svg' width=20>"),
    )
    for number in range(SUB_RESOURCES):
        yield kinds[number % len(kinds)].format(number)


PAGES = {
    "/actions": ("text/html", ACTIONS.encode()),
    "/still": ("text/html", STILL.encode()),
    "/busy": ("text/html", BUSY.encode()),
    "/many": ("text/html", "".join(many_things()).encode()),
    "/free": ("text/plain", b"free"),
    "/sink": ("text/plain", b"taken"),
}
BY_ENDING = {
    "svg": ("image/svg+xml", PIXEL),
    "js": ("text/javascript", b"window.loaded = (window.loaded || 0) + 1;\n" * 20),
    "css": ("text/css", b".unused { color: red }\n" * 40),
}


def answer(path: str) -> bytes:
    kind, content = PAGES.get(path) or BY_ENDING.get(path.rpartition(".")[2], ("text/plain", b"nothing"))
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    return f"{head}Cache-Control: no-store\r\n\r\n".encode() + content


class Connection(asyncio.Protocol):
    """HTTP/1.1 as far as a browser needs it: requests one after the other, bodies counted and dropped."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._head = b""
        self._body_left = 0

    def data_received(self, data: bytes) -> None:
        while data:
            if self._body_left:
                taken = min(self._body_left, len(data))
                self._body_left, data = self._body_left - taken, data[taken:]
            else:
                data = self._take_head(data)
            if not self._body_left and self._head.endswith(b"\r\n\r\n"):
                self._transport.write(answer(self._head.split(b" ", 2)[1].decode().split("?")[0]))
                self._head = b""

    def _take_head(self, data: bytes) -> bytes:
        """Take up to the head's end; returns what comes after it."""
        self._head += data
        end = self._head.find(b"\r\n\r\n")
        if end < 0:
            return b""
        rest, self._head = self._head[end + 4 :], self._head[: end + 4]
        for line in self._head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                self._body_left = int(value)
        return rest


async def serve(socket: Path) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_unix_server(Connection, str(socket))
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
