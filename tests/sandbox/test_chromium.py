"""A real browser runs inside with its own sandbox on, spoken to over kept descriptors."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from clawbench.sandbox import Command, Limits, proctree
from clawbench.sandbox.handover import readable

pytestmark = pytest.mark.anyio
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def user_namespaces(root: int) -> set[str]:
    """Chromium's sandbox puts its renderers into a user namespace of their own."""
    found = set()
    for entry in proctree.descendants(root):
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{entry.pid}/ns/user"))
    return found


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome is installed")
async def test_chromium_keeps_its_own_sandbox(opener: Any, tmp_path: Path, until: Any) -> None:
    sandbox = opener(nested_userns=True)
    commands, ours = os.pipe()
    answers, theirs = os.pipe()
    argv = [str(CHROMIUM), "--headless=new", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
    argv += ["--disable-background-networking", "about:blank"]
    process = await sandbox.start(
        Command(argv, keep_fds=[commands, theirs], stderr=tmp_path / "err", limits=Limits(processes=2000))
    )
    os.close(commands)
    os.close(theirs)
    os.write(ours, json.dumps({"id": 1, "method": "Browser.getVersion"}).encode() + b"\0")
    await asyncio.wait_for(readable(answers), 30)
    assert b"Chrom" in os.read(answers, 65536), (tmp_path / "err").read_text()
    await until(lambda: len(user_namespaces(process.pid)) > 1)
    ended = await asyncio.wait_for(process.end(), 3)
    assert ended.exit_code == -9
    os.close(ours)
    os.close(answers)
    await sandbox.close()
