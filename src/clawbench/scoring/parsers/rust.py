"""`cargo test`. Pure."""

from __future__ import annotations

import re

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED, Found, lines_of

_TEST = re.compile(r"(?:^|.*?\s)test (\S.*?) \.\.\. ?(.*)$")
_STATUS = re.compile(r"(ok|FAILED|ignored(?:, .*)?)(?: <[\d.]+s>)?$")
_MODES = re.compile(r" - (?:should panic|compile fail|compile)$")
_LISTED = re.compile(r"    (\S.*)$")


def parse_cargo(log: str) -> Found:
    """With `--nocapture` a test's output stands between its name and its status."""
    found = Found()
    waiting: str | None = None
    in_failures = False
    for line in lines_of(log):
        if line.startswith(("test result:", "running ")):
            waiting, in_failures = None, False
        elif line == "failures:":
            in_failures = True
        elif in_failures and (listed := _LISTED.match(line)):
            if listed[1] in found:
                found.note(listed[1], FAILED)
        elif waiting is None and (test := _TEST.match(line)):
            waiting = None if _note(found, test[1], test[2], whole=True) else test[1]
        elif waiting is not None and _note(found, waiting, line, whole=False):
            waiting = None
    return found


def _note(found: Found, name: str, text: str, *, whole: bool) -> bool:
    status = _STATUS.match(text) if whole else _STATUS.search(text)
    if status is None:
        return False
    word = status[1].split(",")[0]
    found.note(_MODES.sub("", name), {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}[word])
    return True
