"""RSpec, minitest and test-unit. Pure."""

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
)

_STATUSES = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED}
_TRANSFORMED = re.compile(r"(.+) - (passed|failed|pending)$")
_MARKED = re.compile(r"(.+?) \((FAILED - \d+|PENDING: .*)\)$")
_MINITEST = re.compile(r"(.*#.*) = [\d.]+ s = ([.FES])$")
_MINITEST_OPEN = re.compile(r"(\S[^=]*#.*?) = ")
_MINITEST_END = re.compile(r".*?[\d.]+ s = ([.FES])$")
_UNIT = re.compile(r"\s+(?:test: )?(\S.*?):\s*\t+(.*)$")
_UNIT_END = re.compile(r"([.FEOPN])(?:: \([\d.]+\))?$")
_LETTERS = {".": PASSED, "F": FAILED, "E": FAILED}


def parse_rspec(log: str) -> Found:
    """`--format json`, lines `description - status` made of it, or `--format documentation`."""
    return _rspec_json(log) or _rspec_transformed(log) or _rspec_documentation(log)


def _rspec_json(log: str) -> Found:
    """Known by description, by description and id, and by all titles."""
    found = Found()
    text = plain(log)
    start = text.find('{"version"')
    try:
        report = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {}
    except ValueError:
        return found
    for example in report.get("examples", []):
        status = _STATUSES.get(example["status"], FAILED)
        described = example["description"]
        for name in {described, f"{described} - {example['id']}", example["full_description"]}:
            found.note(name, status)
    return found


def _rspec_transformed(log: str) -> Found:
    found = Found()
    for line in lines_of(log):
        if result := _TRANSFORMED.match(line.strip()):
            found.note(result[1], _STATUSES[result[2]])
    return found


def _rspec_documentation(log: str) -> Found:
    """A title is followed by something deeper, an example is not."""
    found, titles = Found(), Titles()
    shown = re.split(r"\n(?:Pending:|Failures:|Finished in )", plain(log))[0]
    lines = [indented(line) for line in shown.split("\n") if line.strip()]
    for (indent, text), (following, _) in zip(lines, [*lines[1:], (0, "")], strict=False):
        marked = _MARKED.match(text)
        if marked is None and (following > indent or indent == 0):
            titles.enter(indent, text)
            continue
        name = marked[1] if marked else text
        status = PASSED if marked is None else FAILED if marked[2].startswith("FAILED") else SKIPPED
        found.note(" ".join((*titles.around(indent), name)), status)
    return found


def parse_minitest(log: str) -> Found:
    """`-v`: `Class#test = 0.01 s = .`; what a test prints comes before its time."""
    found = Found()
    waiting: str | None = None
    for line in lines_of(log):
        if result := _MINITEST.match(line):
            _note_minitest(found, result[1], result[2])
            waiting = None
        elif waiting is not None and (end := _MINITEST_END.match(line)):
            _note_minitest(found, waiting, end[1])
            waiting = None
        elif opened := _MINITEST_OPEN.match(line):
            waiting = opened[1]
    return found


def _note_minitest(found: Found, name: str, letter: str) -> None:
    """Names made of sentences end in a full stop, which SWE-bench leaves out."""
    for form in {name, name.strip().removesuffix(".")}:
        found.note(form, _LETTERS.get(letter, SKIPPED))


def parse_test_unit(log: str) -> Found:
    """`-v`: `  test_name:   .: (0.01)`; what a test prints comes before its letter."""
    found = Found()
    waiting: str | None = None
    for line in lines_of(log):
        test = _UNIT.match(line)
        waiting = test[1] if test else waiting
        if waiting is not None and (end := _UNIT_END.search(test[2] if test else line)):
            found.note(waiting, _LETTERS.get(end[1], SKIPPED))
            waiting = None
    return found


def parse_cucumber(log: str) -> Found:
    found = Found()
    for line in lines_of(log):
        if result := re.match(r"(.+?) \.*([.F])\S*$", line.strip()):
            found.note(result[1], PASSED if result[2] == "." else FAILED)
    return found
