"""The Test Anything Protocol: mocha's `-R tap`, QUnit, `node --test`. Pure."""

from __future__ import annotations

import re

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED, Found, Titles, indented, lines_of

_RESULT = re.compile(r"(ok|not ok)(?: (\d+))?(?: - | |$)(.*)$")
_DIRECTIVE = re.compile(r"(?<!\\)\s# ?(SKIP|TODO)\b.*$", re.IGNORECASE)
_SUBTEST = "# Subtest: "


def parse_tap(log: str) -> Found:
    """Subtests are named `parent > child`; what they print comes as a comment."""
    found, titles = Found(), Titles()
    for line in lines_of(log):
        indent, text = indented(line)
        if text.startswith(_SUBTEST):
            titles.enter(indent, _plainly(text.removeprefix(_SUBTEST)))
        elif (result := _RESULT.match(text)) and not _is_noise(indent, titles):
            directive = _DIRECTIVE.search(result[3])
            name = _plainly(_DIRECTIVE.sub("", result[3]))
            status = SKIPPED if directive else PASSED if result[1] == "ok" else FAILED
            found.note(" > ".join((*titles.around(indent), name)), status)
    return found


def _is_noise(indent: int, titles: Titles) -> bool:
    return indent > 0 and not titles.around(indent)


def _plainly(name: str) -> str:
    return re.sub(r"\\([\\#])", r"\1", name).strip()
