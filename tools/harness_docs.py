"""Renews the generated tables of docs/harnesses.md: `python tools/harness_docs.py [MATRIX.json]`.

What each harness can be told comes from the adapters. The matrix comes from MATRIX.json, the output of
`clawbench harness check --all --json`; with `--check` that is run here; without either the matrix stays as
it is.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clawbench.harnesses import get_harness, harness_names
from clawbench.harnesses.program import ProgramHarness, Setting

DOCS = Path(__file__).resolve().parent.parent / "docs" / "harnesses.md"
Row = Sequence[str]


def main(arguments: Sequence[str]) -> int:
    text = fill(DOCS.read_text(encoding="utf-8"), "settings", settings_table())
    if arguments:
        rows = _run_check() if arguments[0] == "--check" else json.loads(Path(arguments[0]).read_text())
        text = fill(text, "matrix", matrix(rows, datetime.now(UTC).strftime("%-d %B %Y")))
    DOCS.write_text(text, encoding="utf-8")
    return 0


def fill(text: str, name: str, content: str) -> str:
    """Put the content between the two comments of that name."""
    begin, end = f"<!-- {name}: written by tools/harness_docs.py -->\n", f"<!-- end of {name} -->"
    filled, count = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}{content}{end}", text, flags=re.DOTALL
    )
    if count != 1:
        raise SystemExit(f"{DOCS} must have one place for {name}: {begin}…{end}")
    return filled


def settings_table() -> str:
    """What each adapter of a program can be told."""
    found = (get_harness(name) for name in harness_names())
    rows = [
        (f"`{one.name}`", _short(one.version), ", ".join(api.value for api in one.apis), *_settings(one))
        for one in found
        if isinstance(one, ProgramHarness) and getattr(one, "asks_model", True)
    ]
    return table(("harness", "version", "speaks, best first", *(one.value for one in Setting)), rows)


def matrix(checked: Sequence[Mapping[str, Any]], date: str) -> str:
    rows = [
        (f"`{one['name']}`", _short(one["version"]), _kind(one, "coding"), _kind(one, "web"))
        for one in checked
    ]
    return f"Checked on {date}.\n\n" + table(("harness", "version", "coding", "web"), rows)


def table(head: Row, rows: Sequence[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def _settings(harness: ProgramHarness) -> list[str]:
    return ["yes" if setting in harness.settings else "no" for setting in Setting]


def _kind(one: Mapping[str, Any], kind: str) -> str:
    status = str(one[kind])
    if status != "ok":
        reason = " ".join(str(one.get(f"{kind}_reason", "")).split())
        return "–" if reason.endswith(f"does no {kind} tasks") else f"{status}: {reason}"
    details = one["details"][kind]
    parts = {
        name: details[name]["detail"] for name in ("usage", "claim", "policy", "stop") if name in details
    }
    claim = parts.get("claim", "")
    said = f"claim {claim}" if claim and "nothing" not in claim else "no claim"
    return f"ok; {said}; gone after {parts['stop']}" if parts["stop"][:1].isdigit() else "ok"


def _short(version: str | None) -> str:
    """A commit by its first letters."""
    return (version or "")[:12] if re.fullmatch("[0-9a-f]{40}", version or "") else version or ""


def _run_check() -> Any:
    command = [sys.executable, "-m", "clawbench", "harness", "check", "--all", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
