"""What the tasks of the suite mini-swe are built and tested with. Only what a sandbox can see counts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clawbench.doctor.part import Finding, Part, Status, fine
from clawbench.doctor.programs import ask, remembered, version_in
from clawbench.doctor.system import not_there

PURPOSE = "mini-swe"
VISIBLE = "/usr/local/bin:/usr/bin:/bin"
"""PATH as sandboxes have it, without what is for administrators."""
_SHOWN = "/usr/"


@dataclass(frozen=True)
class Toolchain:
    name: str
    language: str
    packages: tuple[str, ...]
    version: tuple[str, ...]
    """Program and arguments that print the version."""
    oldest: tuple[int, ...] = (0,)
    too_new: tuple[int, ...] = (1 << 30,)
    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def part(self) -> Part:
        why = f"only for the suite {PURPOSE}: its task in {self.language}"
        return Part(self.name, why, self.packages, frozenset({PURPOSE}), False, self.check)

    def check(self) -> Finding:
        program = visible(self.version[0])
        absent = [name for name in self.programs if visible(name) is None]
        absent += [file for file in self.files if not Path(file).is_file()]
        if program is None or absent:
            return not_there(self.packages, f"no {' and no '.join(absent or [self.version[0]])} below /usr")
        version = version_in(self._answer(program) or "")
        if version is None or version < self.oldest:
            found = f"{program} does not say its version" if version is None else _dotted(version)
            return not_there(self.packages, f"{found}; at least {_dotted(self.oldest)} is needed")
        if version >= self.too_new:
            remedy = f"Use a system that has one before {_dotted(self.too_new)}"
            return Finding(Status.MISSING, f"{_dotted(version)} is too new", remedy)
        return fine(f"{_dotted(version)}, {program}")

    def _answer(self, program: Path) -> str | None:
        """Remembered where it depends on the program alone, and not on a library that it loads."""
        question = self.version[1:]
        if len(question) > 1:
            return _said(program, question)
        return remembered(" ".join(self.version), program, lambda: _said(program, question))


def visible(name: str) -> Path | None:
    """A program on the sandbox's PATH that is not a link to a place that a sandbox does not show."""
    found = shutil.which(name, path=VISIBLE)
    return Path(found) if found and str(Path(found).resolve()).startswith(_SHOWN) else None


def _said(program: Path, arguments: Sequence[str]) -> str | None:
    answer = ask(program, *arguments)
    return answer.text if answer.ok else None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


_JARS = ("/usr/share/java/junit4.jar", "/usr/share/java/hamcrest-core.jar")
_PHPUNIT = "/usr/share/php/PHPUnit/Runner/Version.php"
TOOLCHAINS = (
    Toolchain(
        "JDK with JUnit 4",
        "Java",
        ("default-jdk-headless", "junit4"),
        ("javac", "-version"),
        (11,),
        programs=("java",),
        files=_JARS,
    ),
    Toolchain("Go", "Go", ("golang-go",), ("go", "version"), (1, 18)),
    Toolchain("Rust", "Rust", ("cargo", "rustc"), ("rustc", "--version"), (1, 60), programs=("cargo",)),
    Toolchain("Node.js", "JavaScript", ("nodejs",), ("node", "--version"), (18, 19)),
    Toolchain(
        "C compiler with make",
        "C",
        ("gcc", "libc6-dev", "make"),
        ("cc", "-dumpfullversion"),
        programs=("make", "nm"),
        files=("/usr/include/stdio.h",),
    ),
    Toolchain(
        "Ruby with minitest",
        "Ruby",
        ("ruby", "ruby-minitest"),
        ("ruby", "-e", "require 'minitest'; print RUBY_VERSION"),
        (2, 7),
    ),
    Toolchain(
        "PHP with PHPUnit",
        "PHP",
        ("php-cli", "php-mbstring", "php-xml", "phpunit"),
        ("php", "-r", f"echo PHP_VERSION_ID < 80100 ? '' : file_get_contents('{_PHPUNIT}');"),
        (9, 5),
        too_new=(10,),
        files=(_PHPUNIT,),
    ),
)
