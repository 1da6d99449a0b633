"""`phpunit --testdox`. Pure."""

from __future__ import annotations

import re

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED, Found, plain, without_duration

_SYMBOLS = {"✔": PASSED, "✘": FAILED, "↩": SKIPPED, "∅": SKIPPED, "☢": FAILED, "⚠": PASSED}
_TEST = re.compile(rf"^ +([{''.join(_SYMBOLS)}]) (.+)$")
_CLASS = re.compile(r"^(\S.*?)(?: \((?:[\w\\]+)\))?$")


def parse_phpunit(log: str) -> Found:
    """`Class name > Test name`; the list of failures at the end repeats and is left out."""
    found = Found()
    suite = ""
    text = plain(log).split("\nSummary of ")[0]
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if test := _TEST.match(line):
            found.note(f"{suite} > {without_duration(test[2])}", _SYMBOLS[test[1]])
        elif _TEST.match(following) and (named := _CLASS.match(line)):
            suite = named[1]
    return found
