"""`go test -v`, and `go test -json`. Pure."""

from __future__ import annotations

import json
import re

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED, Found, json_lines, lines_of

_STARTED = re.compile(r"=== RUN\s+(\S+)$")
_ENDED = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
_STATUSES = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}


def parse_go(log: str) -> Found:
    """Of several packages, a name that they share is one that must pass in all of them."""
    found = Found()
    for package in _printed_by_package(log) or [log]:
        for name, status in _parse_text(package).items():
            found.note(name, status)
    return found


def _parse_text(log: str) -> Found:
    """A result may follow what a test printed without a line end; one of a test that never ran is none."""
    found, started, ended = Found(), set[str](), set[str]()
    for line in lines_of(log):
        if run := _STARTED.search(line):
            started.add(run[1])
        elif (result := _ENDED.search(line)) and (not started or result[2] in started):
            found.note(result[2], _STATUSES[result[1].lower()])
            ended.add(result[2])
    for name in started - ended:  # the process died under way
        found.note(name, FAILED)
    return found


def _printed_by_package(log: str) -> list[str]:
    """What was printed, out of `-json`, whose own results miss those that follow an open line."""
    printed: dict[str, list[str]] = {}
    for line in json_lines(log):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("Action") == "output":
            printed.setdefault(str(event.get("Package")), []).append(str(event.get("Output", "")))
    return ["".join(parts) for parts in printed.values()]
