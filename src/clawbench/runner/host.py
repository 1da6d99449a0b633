"""What all runs of this process share: the gateway, the guardian, a private scratch directory."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from clawbench.gateway import BatchBudget, Gateway
from clawbench.places import cache_directory
from clawbench.sandbox import Guardian

MAX_SCRATCH_LENGTH = 60
"""Unix socket paths end at 108 bytes; below a longer directory they would not fit."""


@dataclass
class Host:
    """The trusted side of this process."""

    scratch: Path
    cache: Path
    gateway: Gateway
    guardian: Guardian
    batch: BatchBudget = field(default_factory=BatchBudget)
    """What all runs of this host may cost together; one that is asked to begin after that ends at once."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to end every run in an orderly way (Ctrl-C, SIGTERM)."""

    @asynccontextmanager
    async def run_scratch(self, run_id: str) -> AsyncIterator[Path]:
        path = self.scratch / run_id
        path.mkdir(mode=0o700)
        try:
            yield path
        finally:
            await asyncio.to_thread(remove_tree, path)


@asynccontextmanager
async def open_host(batch: BatchBudget | None = None) -> AsyncIterator[Host]:
    """Bring up the shared parts and take them down again, whatever happens.

    Runs may be performed side by side: they share one gateway, with a token each, the pace of each model, and
    `batch`, the cap on their total cost."""
    async with AsyncExitStack() as stack:
        guardian = Guardian.start()
        stack.callback(guardian.close)
        scratch = _make_scratch()
        guardian.watch_directory(scratch)
        stack.callback(remove_tree, scratch)
        gateway = await stack.enter_async_context(Gateway(scratch / "gateway.sock"))
        yield Host(scratch, cache_directory(), gateway, guardian, batch or BatchBudget())


def remove_tree(path: Path) -> None:
    """Remove a directory that an agent may have filled, read-only directories included."""
    for directory, names, _ in os.walk(path):
        for name in names:
            inner = os.path.join(directory, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)
    shutil.rmtree(path, ignore_errors=True)


def _make_scratch() -> Path:
    base = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="clawbench-", dir="/tmp" if len(base) > MAX_SCRATCH_LENGTH else base))
