"""The doctor's words: a part of the machine, and what was found when looking for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    """Clawbench works, but something about it will be worse."""
    MISSING = "missing"
    """What needs this part cannot work."""


@dataclass(frozen=True)
class Finding:
    status: Status
    detail: str
    """What is there: a version, a path, a number; or what is wrong with it."""
    remedy: str = ""
    """What to do about it; empty where all is well."""
    installing_helps: bool = False
    """Whether the part's packages would bring it; not so where it is there but held back."""


@dataclass(frozen=True)
class Part:
    name: str
    why: str
    packages: tuple[str, ...]
    """Debian and Ubuntu packages that bring it; empty where no package does."""
    needed_for: frozenset[str]
    required: bool
    """Needed for ordinary use; the others serve a purpose of their own, such as containers."""
    check: Callable[[], Finding]


def fine(detail: str) -> Finding:
    return Finding(Status.OK, detail)
