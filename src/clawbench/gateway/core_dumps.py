"""No memory image of a process that holds keys."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

LIMIT = 1
"""Bytes. Linux starts no crash handler (a `core_pattern` that begins with `|`) for a process with this limit,
which 0 does not prevent; and no core file is that small."""


@contextlib.contextmanager
def forbidden() -> Iterator[None]:
    """While it lasts, a crash of this process, or of one that it starts, leaves no memory image."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(
        resource.RLIMIT_CORE, (LIMIT if hard == resource.RLIM_INFINITY else min(LIMIT, hard), hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
