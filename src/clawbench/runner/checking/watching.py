"""A harness whose sandboxes are watched: which processes they had, and when its agent was gone."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from clawbench.harnesses import AgentResult, Harness, RunContext
from clawbench.results import Claim
from clawbench.sandbox import Command, Process, Sandbox, proctree


class Watched:
    """Does what the harness does."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self.name, self.version = harness.name, harness.version
        self.kinds, self.summary = harness.kinds, harness.summary
        self._namespaces: dict[int, int] = {}
        self.ended_at: float | None = None
        """time.monotonic when nothing of the agent was left, as the harness says."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._harness, name)

    async def provision(self, sandbox: Sandbox) -> None:
        await self._harness.provision(sandbox)

    async def open(self, context: RunContext) -> Any:
        watched = cast(Sandbox, _WatchedSandbox(context.sandbox, self._namespaces))
        return await self._harness.open(replace(context, sandbox=watched))

    async def perform(self, agent: Any, prompt: str) -> AgentResult:
        try:
            return await self._harness.perform(agent, prompt)
        finally:
            self.ended_at = time.monotonic()

    async def collect(self, agent: Any, harness_dir: Path) -> Claim | None:
        return await self._harness.collect(agent, harness_dir)

    async def close(self, agent: Any) -> None:
        await self._harness.close(agent)

    def left_processes(self) -> list[str]:
        """Those that still run in one of its sandboxes: a process never leaves its namespace."""
        numbers = (int(name) for name in os.listdir("/proc") if name.isdigit())
        left = proctree.entries(pid for pid in numbers if _namespace(pid) in self._namespaces)
        return [f"{entry.pid} {_command_of(entry.pid)}" for entry in left]

    def forget(self) -> None:
        """Let go of the namespaces, whose numbers may then be given to others."""
        for handle in self._namespaces.values():
            os.close(handle)
        self._namespaces.clear()


class _WatchedSandbox:
    def __init__(self, sandbox: Sandbox, namespaces: dict[int, int]) -> None:
        self._sandbox, self._namespaces = sandbox, namespaces

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    async def start(self, command: Command) -> Process:
        process = await self._sandbox.start(command)
        handle = os.open(f"/proc/{process.pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._namespaces[os.fstat(handle).st_ino] = handle
        return process


def _namespace(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}/ns/pid").st_ino
    return None


def _command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    return "?"
