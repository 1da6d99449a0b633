"""Directories that are made once and kept, whoever asks for them first."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

_COMPLETE = "complete.json"


def fingerprint(about: object) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:24]


@asynccontextmanager
async def building(directory: Path) -> AsyncIterator[bool]:
    """Whether `directory` has still to be made; only one process at a time is told so."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(directory.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        missing = not (directory / _COMPLETE).is_file()
        if missing:
            await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)
        yield missing
    finally:
        os.close(lock)


def finish(directory: Path, about: object) -> None:
    """From now on the directory counts as made."""
    (directory / _COMPLETE).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def kept(directory: Path) -> Any:
    """What `finish` was told."""
    return json.loads((directory / _COMPLETE).read_bytes())
