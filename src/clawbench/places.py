"""Where this user's copy of Clawbench keeps what it can make again."""

from __future__ import annotations

import os
from pathlib import Path

from clawbench.errors import InputError


def cache_directory() -> Path:
    """Holds prepared repositories, installed harnesses and the like."""
    base = os.environ.get("CLAWBENCH_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "clawbench"
    )
    path = Path(base).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be the cache ({error.strerror})",
            file=path,
            field="CLAWBENCH_CACHE",
            remedy="Let CLAWBENCH_CACHE name a directory you may write to",
        ) from None
    return path
