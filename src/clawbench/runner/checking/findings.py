"""What a check found. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    status: Status
    detail: str = ""


@dataclass(frozen=True)
class KindChecked:
    """One harness at one kind of task; `findings` by what was looked at."""

    status: Status
    reason: str = ""
    """Why it failed or was skipped."""
    findings: Mapping[str, Finding] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """One harness."""

    name: str
    version: str | None
    kinds: Mapping[str, KindChecked]

    @property
    def failed(self) -> bool:
        return any(kind.status is Status.FAILED for kind in self.kinds.values())

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"name": self.name, "version": self.version}
        shown |= {kind: checked.status.value for kind, checked in self.kinds.items()}
        shown |= {f"{kind}_reason": checked.reason for kind, checked in self.kinds.items() if checked.reason}
        shown["details"] = {
            kind: {
                name: {"status": one.status.value, "detail": one.detail}
                for name, one in checked.findings.items()
            }
            for kind, checked in self.kinds.items()
        }
        return shown


def ok(detail: str = "") -> Finding:
    return Finding(Status.OK, detail)


def failed(detail: str) -> Finding:
    return Finding(Status.FAILED, detail)


def skipped(detail: str) -> Finding:
    return Finding(Status.SKIPPED, detail)


def together(findings: Mapping[str, Finding]) -> KindChecked:
    """Failed where anything failed."""
    wrong = [f"{name}: {one.detail}" for name, one in findings.items() if one.status is Status.FAILED]
    return KindChecked(Status.FAILED if wrong else Status.OK, "; ".join(wrong), findings)
