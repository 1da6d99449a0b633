"""Maven, Gradle and Ant as they print, and the JUnit XML that all of them write. Pure."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED, Found, lines_of, plain

_ASKED = re.compile(r"-Dtest=['\"]?([^\s'\"]+)")
_BUILD = re.compile(r"BUILD (SUCCESS|FAILURE)\s*$")
_BROKEN = re.compile(r"^\[ERROR\] ([\w.$]+)\.([^\s.]+?)(?:\(\))? (?:--|Time elapsed).*<<< (?:FAILURE|ERROR)!")
_FLAKES = re.compile(r"^\[WARNING\] ([\w.$]+)\.([^\s.]+)$")
_GRADLE = re.compile(r"^(\S[^>]*(?: > [^>]+)+?) (PASSED|FAILED|SKIPPED)$")
_GRADLE_OPEN = re.compile(r"^(\S+ > \S.*)$")
_WORDS = {"PASSED": PASSED, "FAILED": FAILED, "SKIPPED": SKIPPED}


def parse_maven(log: str) -> Found:
    """Maven names tests that fail; one that passes only where it was asked for alone (`-Dtest=Class#method`).

    Commands and ends of builds are matched in order, as their lines may overtake each other.
    """
    found = Found()
    asked, ends = list[str](), list[str]()
    flaky = False
    for line in lines_of(log):
        asked += _ASKED.findall(line)[:1]
        ends += _BUILD.findall(line)
        if line.startswith("[WARNING] Flakes:"):
            flaky = True
        elif flaky and (test := _FLAKES.match(line)):
            found[f"{test[1]}#{test[2]}"] = PASSED
        elif broken := _BROKEN.match(line):
            found.note(f"{broken[1]}#{broken[2]}", FAILED)
    for name, end in zip(asked, ends, strict=False):
        found.note(name, PASSED if end == "SUCCESS" else FAILED)
    return found


def parse_gradle(log: str) -> Found:
    """`Class > test PASSED`. What tests print is indented; a test tried again counts as it last ended."""
    found = Found()
    waiting: str | None = None
    for line in lines_of(log):
        if result := _GRADLE.match(line.rstrip()):
            found[result[1].strip()] = _WORDS[result[2]]
            waiting = None
        elif waiting is not None and line.strip() in _WORDS:
            found[waiting] = _WORDS[line.strip()]
            waiting = None
        elif (opened := _GRADLE_OPEN.match(line.rstrip())) and "STANDARD_" not in line:
            waiting = opened[1]
    return found


def parse_ant(log: str) -> Found:
    found = Found()
    for line in lines_of(log):
        if result := re.match(r"\s*\[junit\]\s+\[(PASS|FAIL|ERR|SKIP)\]\s+(.+)$", line):
            found.note(result[2], {"PASS": PASSED, "SKIP": SKIPPED}.get(result[1], FAILED))
    return found


def parse_junit_xml(log: str) -> Found:
    """Any number of reports one after the other: `class#test`."""
    found = Found()
    text = re.sub(r"<\?xml[^>]*\?>", "", plain(log))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return found
    try:
        root = ElementTree.fromstring(f"<reports>{text}</reports>")
    except ElementTree.ParseError:
        return found
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        status = FAILED if kinds & {"failure", "error"} else SKIPPED if "skipped" in kinds else PASSED
        found.note(f"{case.get('classname', '')}#{case.get('name', '')}", status)
    return found
