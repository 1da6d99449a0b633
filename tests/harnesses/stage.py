"""A run's surroundings for one harness: sandbox, services, and the rest of a RunContext."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from clawbench.harnesses import CDP, CDP_PORT, GATEWAY, GATEWAY_PORT, RunContext
from clawbench.models import ApiType, Model
from clawbench.results import Isolation
from clawbench.sandbox import Bridge, Mount, Process, Sandbox, open_sandbox

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
MODEL = Model(name="scripted", base_url="http://unused.invalid/v1", api_type=ApiType.OPENAI_COMPLETIONS)


class BridgedServices:
    """Connects the sandbox's listeners to unix sockets, as a run does."""

    def __init__(self, sockets: Mapping[str, Path]) -> None:
        self._sockets = sockets
        self.bridges: list[Bridge] = []
        self.process: Process | None = None

    def serve(self, process: Any) -> None:
        self.process = process
        for name, listener in process.listeners.items():
            bridge = Bridge(listener, self._sockets[name])
            bridge.start()
            self.bridges.append(bridge)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


def _joined_to(connect: Callable[[], Awaitable[Streams]]) -> Callable[..., Awaitable[None]]:
    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await connect()
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    return join


@asynccontextmanager
async def tcp_as_unix(port: int, path: Path) -> AsyncIterator[Path]:
    """A unix socket that leads to a TCP port of this machine."""
    join = _joined_to(lambda: asyncio.open_connection("127.0.0.1", port))
    server = await asyncio.start_unix_server(join, str(path))
    try:
        yield path
    finally:
        server.close()
        path.unlink(missing_ok=True)


@asynccontextmanager
async def unix_as_tcp(path: Path) -> AsyncIterator[int]:
    """A TCP port of this machine that leads to a unix socket."""
    join = _joined_to(lambda: asyncio.open_unix_connection(str(path)))
    server = await asyncio.start_server(join, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def run_context(
    directory: Path,
    kind: Literal["web", "coding"],
    sockets: Mapping[str, Path],
    *,
    provider: str = "bwrap",
    mounts: tuple[Mount, ...] = (),
    token: str = "run-token",
    **more: Any,
) -> AsyncIterator[RunContext]:
    """A context over a fresh sandbox; everything of it is ended afterwards."""
    for name in ("home", "workspace", "harness"):
        (directory / name).mkdir(exist_ok=True)
    workspace = Mount(directory / "workspace", "/workspace", writable=True)
    sandbox: Sandbox = open_sandbox(provider, home=directory / "home", mounts=[workspace, *mounts])
    assert sandbox.isolation is (Isolation.FULL if provider == "bwrap" else Isolation.NONE)
    ports = {GATEWAY: sandbox.free_port(GATEWAY_PORT)}
    if CDP in sockets:
        ports[CDP] = sandbox.free_port(CDP_PORT)
    services = BridgedServices(sockets)
    try:
        yield RunContext(
            kind=kind,
            sandbox=sandbox,
            model=more.pop("model", MODEL),
            token=token,
            services=services,
            listen=ports,
            workspace=sandbox.inside("/workspace"),
            harness_dir=directory / "harness",
            time_limit_s=more.pop("time_limit_s", 60),
            **more,
        )
    finally:
        for bridge in services.bridges:
            await bridge.close()
        await sandbox.close()
