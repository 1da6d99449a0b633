"""A gateway that crashes leaves no key behind: not in a core file, not in a crash report."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clawbench.gateway.core_dumps import LIMIT
from clawbench.results import read_json_lines

KEY_PARTS = ("sk-planted-", "7f3a9c2e51d84b06")
KEY = "".join(KEY_PARTS)

CRASH = """
import os, sys
key = "".join(sys.argv[1:3])
os.abort()
"""
GATEWAY = """
import asyncio, os, sys
from pathlib import Path
import httpx
from clawbench.gateway import Gateway
from clawbench.models import ApiType, Model
from clawbench.results import RunDirectory

async def silent(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    kind = b"content-type: text/event-stream\\r\\ntransfer-encoding: chunked"
    writer.write(b"HTTP/1.1 200 OK\\r\\n" + kind + b"\\r\\n\\r\\n")
    event = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\\n\\n'
    writer.write(b"%x\\r\\n%s\\r\\n" % (len(event), event))
    await writer.drain()
    await asyncio.Event().wait()

async def main():
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = "http://127.0.0.1:%d/v1" % server.sockets[0].getsockname()[1]
    keys = ("".join(sys.argv[1:3]),)
    model = Model(name="m", base_url=url, api_type=ApiType.OPENAI_COMPLETIONS, api_keys=keys)
    run = RunDirectory.create(Path("out"), batch="b", suite="s", task="t", harness="h", model="m")
    async with Gateway(Path("g.sock")) as gateway:
        meter = gateway.open_run(run_id="r", model=model, run=run)
        transport = httpx.AsyncHTTPTransport(uds="g.sock")
        async with httpx.AsyncClient(transport=transport) as client:
            body = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
            headers = {"authorization": "Bearer " + meter.token}
            where = "http://gateway/v1/chat/completions"
            async with client.stream("POST", where, json=body, headers=headers) as answer:
                await anext(answer.aiter_raw())
                os.abort()

asyncio.run(main())
"""


def _with_core_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def _crash(program: str, directory: Path) -> subprocess.CompletedProcess[bytes]:
    directory.mkdir()
    (directory / "program.py").write_text(program)
    command = [sys.executable, "-X", "faulthandler", "program.py", *KEY_PARTS]
    crashed = subprocess.run(
        command,
        cwd=directory,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=_with_core_files,
        env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
    )
    assert crashed.returncode == -signal.SIGABRT, crashed.stderr.decode()
    return crashed


def _holding(directory: Path) -> list[str]:
    files = [file for file in directory.rglob("*") if file.is_file()]
    return [file.name for file in files if KEY.encode() in file.read_bytes()]


def test_planted_key_is_in_no_core_file_or_report(tmp_path: Path) -> None:
    _crash(CRASH, tmp_path / "control")
    if not _holding(tmp_path / "control"):
        pytest.skip("this machine writes no core files into the directory of a process")
    crashed = _crash(GATEWAY, tmp_path / "gateway")
    assert b"Fatal Python error: Aborted" in crashed.stderr
    assert _holding(tmp_path / "gateway") == []
    assert KEY.encode() not in crashed.stdout + crashed.stderr
    [messages] = (tmp_path / "gateway").rglob("agent-messages.jsonl")
    assert [line["type"] for line in read_json_lines(messages)] == ["session"]


@pytest.mark.anyio
async def test_limit_is_put_back(tmp_path: Path) -> None:
    from clawbench.gateway import Gateway

    before = resource.getrlimit(resource.RLIMIT_CORE)
    async with Gateway(tmp_path / "g.sock"):
        assert resource.getrlimit(resource.RLIMIT_CORE)[0] == min(LIMIT, before[1] % 2**64)
    assert resource.getrlimit(resource.RLIMIT_CORE) == before
