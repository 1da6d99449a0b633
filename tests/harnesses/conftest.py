"""Real parts for the harness tests: a headless Chromium, small web pages, a model that plays a script."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Reply = dict[str, Any]
"""An assistant message, or `{"status": …, "body": …, "headers": …}` for an answer that is none."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a client that was ended
            self.end_headers()
            self.wfile.write(body)


@dataclass
class ScriptedModel:
    """Answers chat completions with one reply after the other, and keeps what it was asked."""

    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    port: int = 0
    hold: threading.Event | None = None
    """Where set, answers wait for it."""
    asked: threading.Event = field(default_factory=threading.Event)

    def results(self, request: int = -1) -> list[str]:
        """The tool results that a request carried, oldest first."""
        return [m["content"] for m in self.requests[request]["messages"] if m["role"] == "tool"]

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if self.replies else {"content": "nothing more to say"}


def call(name: str, **arguments: Any) -> Reply:
    """An assistant message that calls one tool."""
    return calls((name, json.dumps(arguments)))


def calls(*wanted: tuple[str, str]) -> Reply:
    tool_calls = [
        {"id": f"c{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(wanted)
    ]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def _model_handler(model: ScriptedModel) -> type[_Handler]:
    class Handler(_Handler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(body)
            model.authorizations.append(self.headers["Authorization"])
            model.asked.set()
            if model.hold is not None:
                model.hold.wait(30)
            reply = model.next_reply()
            if "status" in reply:
                self.answer(reply["status"], reply.get("body", b""), reply.get("headers", {}))
                return
            usage = {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 40},
            }
            completion = {"choices": [{"message": reply, "finish_reason": "stop"}], "usage": usage}
            self.answer(200, json.dumps(completion).encode(), {"Content-Type": "application/json"})

    return Handler


def _serve(handler: type[_Handler]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    model = ScriptedModel()
    for port in _serve(_model_handler(model)):
        model.port = port
        yield model


@dataclass
class Pages:
    """A web server whose pages a test writes: path -> HTML, or a function of the request's body."""

    port: int
    content: dict[str, str | Callable[[bytes], str]]
    posted: list[tuple[str, bytes]]

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@pytest.fixture
def pages() -> Iterator[Pages]:
    pages = Pages(0, {}, [])

    class Handler(_Handler):
        def do_GET(self) -> None:
            self.respond(b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            pages.posted.append((self.path, body))
            self.respond(body)

        def respond(self, body: bytes) -> None:
            page = pages.content.get(self.path.partition("?")[0])
            text = page(body) if callable(page) else page
            status = 200 if text is not None else 404
            self.answer(status, (text or "").encode(), {"Content-Type": "text/html; charset=utf-8"})

    for port in _serve(Handler):
        pages.port = port
        yield pages


def find_chromium() -> str:
    for name in ("chromium", "google-chrome", "chromium-browser"):
        if found := shutil.which(name):
            return found
    pytest.skip("Chromium is not installed")


FLAGS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
    "--window-size=1280,900", "about:blank",
)  # fmt: skip


def start_chromium(profile: Path, hosts: str = "MAP *.test 127.0.0.1") -> tuple[subprocess.Popen[bytes], int]:
    """A headless Chromium and its debugging port, read from the line in which it says so."""
    process = subprocess.Popen(
        [find_chromium(), f"--user-data-dir={profile}", f"--host-resolver-rules={hosts}", *FLAGS],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if b"DevTools listening on" in line:
            port = int(line.rsplit(b"/devtools", 1)[0].rsplit(b":", 1)[1])
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, port
    raise RuntimeError("Chromium did not start")


def end_chromium(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stderr is not None
    process.stderr.close()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a browser's debugging port."""
    process, port = start_chromium(tmp_path_factory.mktemp("profile"))
    yield f"http://127.0.0.1:{port}"
    end_chromium(process)
