"""The site of a fault run: a page that never rests, and a server out of every fault's reach."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HOST = "shop.example"
SCHEMA = {"url_pattern": f"^http://{HOST}/order", "method": "POST", "body": {"kind": "final"}}
PAGE = Path(__file__).with_name("page.html")
LONGEST_WAIT_S = 60.0


@dataclass(frozen=True)
class Arrived:
    method: str
    path: str
    query: str
    body: bytes
    at: float

    @property
    def final(self) -> bool:
        return self.path == "/order" and b"final" in self.body


@dataclass
class Site:
    """What reached the server, and the cue on which the page sends the final request in many ways at once."""

    socket: Path
    arrived: list[Arrived] = field(default_factory=list)
    _after_ms: int = 0
    _cue: threading.Event = field(default_factory=threading.Event)

    def give_cue(self, after_ms: int = 0) -> None:
        """The page begins so long after it hears of it: time to freeze those who would carry the cue."""
        self._after_ms = after_ms
        self._cue.set()

    def wait_for_cue(self) -> bytes:
        self._cue.wait(LONGEST_WAIT_S)
        return json.dumps({"after_ms": self._after_ms}).encode()

    def final(self) -> list[Arrived]:
        return [one for one in self.arrived if one.final]

    def numbers(self) -> dict[str, float]:
        """Each request of the page carries a number of its own; here with the time of its arrival."""
        return {one.query: one.at for one in list(self.arrived) if one.query}


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    site: Site

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that was killed hangs up in the middle: no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.site.arrived.append(Arrived(self.command, url.path, url.query, body, time.time()))
        content = self._content(url.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if url.path == "/" else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def _content(self, path: str) -> bytes:
        if path == "/cue":
            return self.server.site.wait_for_cue()
        return PAGE.read_bytes() if path == "/" else b"{}"

    def address_string(self) -> str:
        return "browser"

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def serve(socket: Path) -> Iterator[Site]:
    with _Server(str(socket), _Handler) as server:
        server.site = Site(socket)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.site
        finally:
            server.site.give_cue()
            server.shutdown()
            thread.join()


def write_task(directory: Path) -> Path:
    task = directory / "901-faults-shop"
    task.mkdir()
    fields = {"instruction": "Order.", "eval_schema": SCHEMA, "time_limit": 2, "site": "faults"}
    (task / "task.json").write_text(json.dumps(fields))
    return task
