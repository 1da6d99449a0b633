"""Bars: what was measured against what it may be, as a table and as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One figure that has a limit."""

    name: str
    value: float
    limit: float
    unit: str
    what: str
    """What was measured, with the figures behind the value."""
    at_least: bool = False
    """The limit is a minimum."""

    @property
    def ok(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def report(bars: Iterable[Bar], **more: object) -> str:
    """A table, and last a line of JSON."""
    bars = list(bars)
    width = max(len(bar.name) for bar in bars)
    lines = [
        f"{'ok    ' if bar.ok else 'MISSED'} {bar.name:{width}} {bar.value:9.2f} "
        f"{'≥' if bar.at_least else '≤'} {bar.limit:g} {bar.unit:11} {bar.what}"
        for bar in bars
    ]
    entries = {bar.name: {"value": round(bar.value, 3), "bar": bar.limit, "ok": bar.ok} for bar in bars}
    return "\n".join([*lines, json.dumps({"bars": entries, **more})])
