"""GoogleTest, ctest, and runners that C projects bring along. Pure."""

from __future__ import annotations

import re

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED, Found, lines_of

_GTEST = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] (.+?)(, where .+)? \(\d+ ms\)$")
_GTEST_STARTED = re.compile(r"\[ RUN +\] (\S+)$")
_CTEST = re.compile(r"^\s*\d+/\d+ Test +#\d+: (.+?) \.*(?:\*{3})?\s*([A-Z][\w ()]*?)\s+[\d.]+ sec")


def parse_googletest(log: str) -> Found:
    """A result may follow what a test printed without a line end; a test without one ended the program."""
    found, started, ended = Found(), list[str](), set[str]()
    for line in lines_of(log):
        if run := _GTEST_STARTED.search(line):
            started.append(run[1])
        elif result := _GTEST.search(line):
            status = {"OK": PASSED, "FAILED": FAILED}.get(result[1], SKIPPED)
            ended.add(result[2])
            for name in (result[2], result[2] + (result[3] or "")):
                found.note(name, status)
    for name in started:
        if name not in ended:
            found.note(name, FAILED)
    return found


def parse_ctest(log: str) -> Found:
    """What tests print has their number before each line, so it cannot be taken for a result."""
    found = Found()
    for line in lines_of(log):
        if result := _CTEST.match(line):
            word = result[2]
            skipped = word in ("Skipped", "Not Run (Disabled)")
            found.note(result[1], PASSED if word == "Passed" else SKIPPED if skipped else FAILED)
    return found


def parse_automake(log: str) -> Found:
    found = Found()
    for line in lines_of(log):
        if result := re.match(r"\s*(PASS|XFAIL|FAIL|XPASS|ERROR|SKIP): (\S.*)$", line):
            status = {"PASS": PASSED, "XFAIL": PASSED, "SKIP": SKIPPED}.get(result[1], FAILED)
            found.note(result[2], status)
    return found


def parse_redis(log: str) -> Found:
    found = Found()
    for line in lines_of(log):
        if result := re.match(r"\s*\[(ok|err|exception|skip|ignore)\]: (.+?)(?: \(\d+ ?m?s\))?$", line):
            status = {"ok": PASSED, "err": FAILED, "exception": FAILED}.get(result[1], SKIPPED)
            name = re.sub(r" in \S+$", "", result[2]) if status == FAILED else result[2]
            found.note(name, status)
    return found


def parse_micropython(log: str) -> Found:
    found = Found()
    for line in lines_of(log):
        if result := re.match(r"(pass|FAIL|skip)\s+(\S+)", line):
            found.note(result[2], {"pass": PASSED, "FAIL": FAILED}.get(result[1], SKIPPED))
    return found
