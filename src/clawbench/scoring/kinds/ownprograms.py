"""Our own runners for other languages: each test file in a process of its own, with a program of ours in it
that reports over the channel. Test ids are `FILE::NAME`."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from clawbench import doctor
from clawbench.scoring.kinds.protocol import Evidence, Invocation, Place
from clawbench.scoring.restoring import file_of_test
from clawbench.scoring.testreport import Outcome, read_report

_BETWEEN = "::"
HOME = "$HOME"
"""Kept from one invocation to the next, and gone after the last."""


class OwnProgram:
    """What these runners have in common.

    Building is an invocation without tests: whatever it leaves running is gone, and the nonce not yet made,
    when tests begin.
    """

    name: str
    part: str
    """The doctor's name for the tools that are needed."""

    def missing(self, command: str) -> str | None:
        finding = doctor.check_part(self.part)
        if finding.status is not doctor.Status.MISSING:
            return None
        return f"{self.part}: {finding.detail}. {finding.remedy}"

    def file_of(self, test: str, files: Collection[str]) -> str | None:
        return file_of_test(test, files)

    def plan(self, command: str, tests: Sequence[str], place: Place) -> list[Invocation]:
        words = shlex.split(command)[1:]
        by_file: dict[str, list[str]] = {}
        for test in tests:
            file, _, name = test.partition(_BETWEEN)
            by_file.setdefault(file, []).append(name)
        built = [line for line in (self.build(list(by_file), words, place),) if line]
        invocations = [Invocation(_line(line), (), env=self.env) for line in built]
        for number, (file, names) in enumerate(by_file.items()):
            ids = tuple(f"{file}{_BETWEEN}{name}" for name in names)
            *before, last = self.lines(number, file, names, words, place)
            invocations += [Invocation(_line(line), (), env=self.env) for line in before]
            invocations.append(Invocation(_line(last), ids, env=self.env))
        return invocations

    def read(self, invocation: Invocation, evidence: Evidence) -> dict[str, Outcome]:
        if not invocation.tests:
            return {}
        names = {test.partition(_BETWEEN)[2]: test for test in invocation.tests}
        reading = read_report(evidence.channel, evidence.nonce, list(names))
        if not reading.started:
            detail = f"the tests did not start (exit code {evidence.exit_code}), or could not be built"
            return dict.fromkeys(invocation.tests, Outcome("error", detail))
        return {names[name]: outcome for name, outcome in reading.outcomes.items()}

    @property
    def env(self) -> dict[str, str]:
        """The tools that the doctor looked at, whatever else is on PATH."""
        return {"PATH": doctor.VISIBLE}

    def build(self, files: list[str], words: list[str], place: Place) -> list[str]:
        """A command that builds the code; empty where nothing is built."""
        return []

    @abstractmethod
    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        """Commands that prepare and, the last one, run the tests of a file."""


class Node(OwnProgram):
    name, part = "node", "Node.js"

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        program = f"{place.programs}/node_program.mjs"
        options = [f"--import=file://{program}", f"--test-reporter=file://{program}"]
        return [["node", *options, "--test-reporter-destination=stdout", f"{place.checkout}/{file}", *names]]


class Minitest(OwnProgram):
    name, part = "minitest", "Ruby with minitest"

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        return [["ruby", f"{place.programs}/minitest_program.rb", file, *names]]


class PhpUnit(OwnProgram):
    name, part = "phpunit", "PHP with PHPUnit"
    _EXTENSIONS = ("ctype", "dom", "mbstring", "tokenizer", "xml", "xmlwriter")

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        loaded = [word for name in self._EXTENSIONS for word in ("-d", f"extension={name}")]
        php = ["php", "-n", *loaded, "-d", "memory_limit=-1"]
        return [[*php, f"{place.programs}/phpunit_program.php", place.checkout, file, *names]]


class JUnit(OwnProgram):
    name, part = "junit", "JDK with JUnit 4"
    _JARS = "/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar"

    def build(self, files: list[str], words: list[str], place: Place) -> list[str]:
        sources = "find src/main/java src/test/java -name '*.java' -type f > $HOME/sources"
        options = f"-proc:none -nowarn -encoding UTF-8 -d $HOME/classes -cp {self._JARS}"
        compile_all = f"javac {options} {place.programs}/JUnitProgram.java @$HOME/sources"
        return ["sh", "-c", f"{sources} && {compile_all}"]

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        parts = PurePosixPath(file).with_suffix("").parts
        after = parts[parts.index("java") + 1 :] if "java" in parts else parts
        options = "-XX:TieredStopAtLevel=1 -XX:-UsePerfData --add-opens java.base/java.io=ALL-UNNAMED"
        line = f"exec java {options} -cp {self._JARS}:$HOME/classes JUnitProgram"
        return [["sh", "-c", f'{line} "$@"', "sh", ".".join(after), *names]]


class Go(OwnProgram):
    name, part = "go", "Go"

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            **{"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"},
            **{"GOTELEMETRY": "off", "CGO_ENABLED": "0"},
        }

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        directory = f"{HOME}/go-{number}"
        build = [place.python, "-I", "-B", f"{place.programs}/go_build.py", place.checkout, directory, file]
        where = f"{place.checkout}/{PurePosixPath(file).parent}"
        return [[*build, *names], ["env", "-C", where, f"{directory}/tests"]]


class Cargo(OwnProgram):
    name, part = "cargo", "Rust"

    def build(self, files: list[str], words: list[str], place: Place) -> list[str]:
        return ["cargo", "build", "--offline", "--lib", "--target-dir", f"{HOME}/target", *words]

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        directory, target = f"{HOME}/rust-{number}", f"{HOME}/target"
        program = f"{place.programs}/rust_build.py"
        build = [place.python, "-I", "-B", program, place.checkout, target, directory, file]
        return [build, [f"{directory}/tests", *names]]


class CC(OwnProgram):
    """`{cc} LIBRARY FLAGS…`: `make LIBRARY` builds the code, tests are compiled with the flags."""

    name, part = "cc", "C compiler with make"

    def build(self, files: list[str], words: list[str], place: Place) -> list[str]:
        return ["make", words[0]]

    def lines(
        self, number: int, file: str, names: list[str], words: list[str], place: Place
    ) -> list[list[str]]:
        directory = f"{HOME}/cc-{number}"
        build = [place.python, "-I", "-B", f"{place.programs}/cc_build.py", place.checkout, directory, file]
        return [[*build, *words], [f"{directory}/tests", *names]]


def _line(words: Sequence[str]) -> str:
    return " ".join(("exec", *map(_quoted, words)))


def _quoted(word: str) -> str:
    if not word.startswith(HOME):
        return shlex.quote(word)
    return f'"{HOME}"{shlex.quote(word[len(HOME) :])}'
