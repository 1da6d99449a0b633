"""Codex offers a tool that changes files to the models that it knows; web agents must not have it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clawbench.harnesses import CDP, GATEWAY
from clawbench.models import ApiType, Model
from clawbench.results import FinishReason

from .stage import run_context, tcp_as_unix
from .test_every_harness import installed

pytestmark = pytest.mark.harnesses

KNOWN = Model(name="gpt-5.5", base_url="http://unused.invalid/v1", api_type=ApiType.OPENAI_RESPONSES)
PATCH = "*** Begin Patch\n*** Add File: stolen\n+x\n*** End Patch\n"
CALL = {"type": "custom_tool_call", "id": "t", "call_id": "c", "name": "apply_patch", "input": PATCH}
DONE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
COUNTED = {"id": "r", "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}


class Patching(ThreadingHTTPServer):
    """A model that asks for a patch, and then is done."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.asked: list[dict[str, Any]] = []


class _Answering(BaseHTTPRequestHandler):
    server: Patching

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "item": CALL if len(self.server.asked) == 1 else DONE},
            {"type": "response.completed", "response": COUNTED},
        ]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


@pytest.fixture
def patching() -> Iterator[Patching]:
    with Patching() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_a_web_agent_changes_no_files_by_patches(patching: Patching, tmp_path: Path) -> None:
    harness = installed("codex")
    async with tcp_as_unix(patching.server_address[1], tmp_path / "gateway") as gateway:
        sockets = {GATEWAY: gateway, CDP: tmp_path / "cdp"}
        async with run_context(tmp_path, "web", sockets, model=KNOWN) as context:
            await harness.provision(context.sandbox)
            agent = await harness.open(context)
            result = await harness.perform(agent, "Change a file.")
    assert result.finish_reason is FinishReason.STOP, result
    first, second = patching.asked
    assert "apply_patch" in [tool.get("name") for tool in first["tools"]], "else this tests nothing"
    assert "Refused: " in second["input"][-1]["output"]
    assert not (tmp_path / "workspace" / "stolen").exists()
