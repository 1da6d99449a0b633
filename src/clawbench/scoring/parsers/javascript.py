"""jest, vitest, mocha and node:test as they print for people. Pure."""

from __future__ import annotations

import json
import re

from clawbench.scoring.parsers.found import (
    FAILED,
    PASSED,
    SKIPPED,
    Found,
    Titles,
    indented,
    lines_of,
    plain,
    without_duration,
)

_SYMBOLS = {"✓": PASSED, "✔": PASSED, "√": PASSED, "✕": FAILED, "×": FAILED, "✗": FAILED, "✖": FAILED}
_SYMBOLS |= {"○": SKIPPED, "✎": SKIPPED, "↓": SKIPPED, "﹣": SKIPPED}
_SYMBOL = re.compile(rf"([{''.join(_SYMBOLS)}]) (.+)$")
_FILE = re.compile(r"\s*(?:PASS|FAIL)\s+\S+\.\w+")
_VITEST = re.compile(rf"\s*([{''.join(_SYMBOLS)}]) (?:\|[^|]+\| )?(\S+\.\w+ > .+)$")
_VITEST_EXTRAS = re.compile(r"(?: \((?:retry|repeat) x\d+\)| \[skipped\])+$")
_NODE = re.compile(r"(.+) \(\d+(?:\.\d+)?ms\)( # .*)?$")
_TAKEN = re.compile(r" +\d+(?:\.\d+)? ?m?s$")


def parse_jest(log: str) -> Found:
    """`--verbose`: tests stand in a block below their file, under their own names without titles around."""
    found, in_block = Found(), False
    for line in lines_of(log):
        if _FILE.match(line):
            in_block = True
        elif not line.strip() or not line.startswith(" "):
            in_block = False
        elif in_block and (result := _SYMBOL.match(line.strip())):
            name = without_duration(result[2])
            if result[1] in "○✎":
                name = re.sub(r"^(?:skipped|todo) ", "", name)
            found.note(name, _SYMBOLS[result[1]])
    return found


def parse_vitest(log: str) -> Found:
    """`--reporter=verbose`: `file > title > test`, outside of blocks that repeat what tests print."""
    found, printed = Found(), False
    for line in lines_of(log):
        if re.match(r"(?:stdout|stderr) \| ", line):
            printed = True
        elif not line.strip():
            printed = False
        elif not printed and (result := _VITEST.match(line)):
            name = _VITEST_EXTRAS.sub("", result[2].rstrip())
            # A name may itself end in what looks like the time taken, which fast tests do not show; rows
            # have names from which it was cut.
            for form in {name, _TAKEN.sub("", name), re.sub(r" \d+$", "", name)}:
                found.note(_VITEST_EXTRAS.sub("", form), _SYMBOLS[result[1]])
    return found


def parse_mocha(log: str) -> Found:
    """The spec reporter, or `-R json`: names are all titles with spaces between them."""
    if (reported := _mocha_json(log)) is not None:
        return reported
    found, titles = Found(), Titles()
    for line in lines_of(log):
        indent, text = indented(line)
        if re.match(r"\d+ (?:passing|failing|pending)", text):
            break
        if result := _SYMBOL.match(text):
            found.note(_joined(titles, indent, without_duration(result[2])), _SYMBOLS[result[1]])
        elif failed := re.match(r"\d+\) (.+)$", text):
            found.note(_joined(titles, indent, failed[1]), FAILED)
        elif pending := re.match(r"- (.+)$", text):
            found.note(_joined(titles, indent, pending[1]), SKIPPED)
        elif text and indent:
            titles.enter(indent, text)
    return found


def _joined(titles: Titles, indent: int, name: str) -> str:
    return " ".join((*titles.around(indent), name))


def _mocha_json(log: str) -> Found | None:
    found = Found()
    text = plain(log)
    start = text.find('{\n  "stats"')
    if start < 0:
        return None
    try:
        report, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return found
    for group, status in (("passes", PASSED), ("failures", FAILED), ("pending", SKIPPED)):
        for test in report.get(group, []):
            found.note(test["fullTitle"], status)
    return found


def parse_node(log: str) -> Found:
    """The spec reporter of `node --test`: `suite > test`; its list of failures at the end is left out."""
    found, titles = Found(), Titles()
    for line in lines_of(log):
        indent, text = indented(line)
        if text == "✖ failing tests:":
            break
        if suite := re.match(r"▶ (.+)$", text):
            titles.enter(indent, without_duration(suite[1]))
        elif (result := _SYMBOL.match(text)) and (ended := _NODE.match(result[2])):
            status = SKIPPED if ended[2] else _SYMBOLS[result[1]]
            found.note(" > ".join((*titles.around(indent), ended[1])), status)
    return found
