"""A web site on loopback that remembers what reached it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PAGE = "text/html; charset=utf-8"
SCRIPT = "text/javascript"
SHOP = """<!doctype html><title>Shop</title><style>body {margin: 0; background: rgb(0, 90, 200)}</style>
<h1>Shop</h1>
<form id=form action=/order method=post><input id=name name=name><button id=buy>Buy</button></form>
<input type=file id=file multiple><iframe id=frame src=/frame></iframe>"""

APPLY = """<!doctype html><title>Apply</title><h1>Apply</h1>
<form action=/order method=post enctype=multipart/form-data><label>Name <input name=name></label>
<label>Resume <input type=file name=resume></label><button>Send</button></form>"""

PAGES = {
    "/apply": (PAGE, APPLY),
    "/": (PAGE, SHOP),
    "/green": (PAGE, "<!doctype html><title>Green</title><body style='background: rgb(0, 160, 0)'>green"),
    "/frame": (PAGE, "<!doctype html><p>frame"),
    "/worker.js": (SCRIPT, "onmessage = e => eval(e.data)"),
    "/shared.js": (SCRIPT, "onconnect = e => e.ports[0].onmessage = m => eval(m.data)"),
    "/sw.js": (SCRIPT, "onmessage = e => eval(e.data)"),
}


@dataclass
class Site:
    port: int
    arrived: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Method, path with query, body."""

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def got(self, path: str) -> int:
        return sum(one.startswith(path) for _, one, _ in self.arrived)


@contextmanager
def serve() -> Iterator[Site]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.close_connection = True
            super().handle_one_request()

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            site.arrived.append((self.command, self.path, body))
            kind, text = PAGES.get(self.path.split("?")[0], (PAGE, "ok"))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = Site(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
