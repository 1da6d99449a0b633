"""A start that is given up in its first moments leaves no process: not even one that only waits for bwrap."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import pytest

from clawbench.sandbox import Command, open_sandbox
from tests.sandbox.conftest import needs_bwrap

pytestmark = pytest.mark.anyio


async def test_a_start_that_is_cancelled_early_leaves_nothing(tmp_path: Path) -> None:
    needs_bwrap("bwrap")
    for number in range(60):
        home = tmp_path / f"home-{number}"
        home.mkdir()
        sandbox = open_sandbox("bwrap", home=home)
        starting = asyncio.ensure_future(sandbox.start(Command(argv=["sleep", "60"])))
        await asyncio.sleep(number / 8000)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting
        await sandbox.close()
    assert not [pid for pid in orphans() if "bwrap" in command_line(pid)]


def orphans() -> list[str]:
    """Living processes of our session whose parent was of it, and is gone."""
    session, found = os.getsid(0), []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, _, its_session = status.read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z" and os.getsid(int(parent)) != session:
                found.append(status.parts[2])
    return found


def command_line(pid: str) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""
