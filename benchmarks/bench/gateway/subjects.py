"""What is compared: the model's API itself, the gateway before it, and LiteLLM's proxy before it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

LITELLM = "litellm[proxy]==1.106.2"
_HERE = Path(__file__).resolve().parent
_ENVIRONMENTS = _HERE.parents[2] / ".clawbench"
_TOKEN = "sk-benchmark-0123456789abcdef"
_PATIENCE_S = 120.0


@dataclass
class Subject:
    """Something that answers model calls."""

    name: str
    port: int
    token: str
    process: asyncio.subprocess.Process

    async def open_run(self) -> None:
        """Gateway: end the run that is open and begin another."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.token = await _line(self.process)

    def memory_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@asynccontextmanager
async def model_api() -> AsyncIterator[Subject]:
    async with _started(str(_HERE / "model_server.py")) as process:
        yield Subject("direct", int(await _line(process)), _TOKEN, process)


@asynccontextmanager
async def gateway(api: Subject, directory: Path) -> AsyncIterator[Subject]:
    directory.mkdir()
    async with _started(str(_HERE / "gateway_server.py"), str(api.port), str(directory)) as process:
        subject = Subject("gateway", int(await _line(process)), "", process)
        await subject.open_run()
        yield subject


@asynccontextmanager
async def litellm(api: Subject, directory: Path) -> AsyncIterator[Subject | None]:
    """None where it cannot be installed."""
    python = await _litellm_python()
    if python is None:
        yield None
        return
    upstream = {"model": "openai/bench", "api_base": f"http://127.0.0.1:{api.port}/v1", "api_key": _TOKEN}
    token = f"sk-{secrets.token_hex(32)}"
    models = [{"model_name": "bench", "litellm_params": upstream}]
    config = {"model_list": models, "general_settings": {"master_key": token}}
    (directory / "litellm.yaml").write_text(json.dumps(config))
    port = _free_port()
    options = ["--config", str(directory / "litellm.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    program = str(python.with_name("litellm"))
    async with _started(program, *options, python=python, quiet=True) as process:
        await _listening(port, process)
        yield Subject("litellm", port, token, process)


async def _litellm_python() -> Path | None:
    """In an environment of its own, at a pinned version."""
    home = _ENVIRONMENTS / "bench" / "litellm"
    python = home / "bin" / "python"
    version = LITELLM.partition("==")[2]
    check = f"from importlib.metadata import version as v; assert v('litellm') == '{version}'"
    if await _succeeds(str(python), "-c", check):
        return python
    uv = shutil.which("uv") or str(_ENVIRONMENTS / "bootstrap" / "bin" / "uv")
    made = await _succeeds(uv, "venv", "-q", "--clear", "--python", sys.executable, str(home))
    if made and await _succeeds(uv, "pip", "install", "-q", "--python", str(python), LITELLM):
        return python
    return None


@asynccontextmanager
async def _started(
    *command: str, python: Path = Path(sys.executable), quiet: bool = False
) -> AsyncIterator[asyncio.subprocess.Process]:
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "*", "LITELLM_LOG": "ERROR"}
    process = await asyncio.create_subprocess_exec(
        str(python),
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL if quiet else asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL if quiet else None,
        env={**os.environ, **offline},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(_PATIENCE_S):
        line = await process.stdout.readline()
    if not line:
        raise RuntimeError("a part of the benchmark ended early")
    return line.decode().strip()


async def _listening(port: int, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.2)
                continue
            writer.close()
            return
    raise RuntimeError("LiteLLM's proxy ended early")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


async def _succeeds(*command: str) -> bool:
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
    except OSError:
        return False
    return await process.wait() == 0
