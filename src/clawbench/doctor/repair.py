"""Installing what is missing, where we may; otherwise saying the one line that does it."""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Callable, Sequence

from clawbench.doctor.part import Finding, Part, Status
from clawbench.doctor.system import UNATTENDED, as_typed_by_user, install_line, root_prefix, what_comes

Say = Callable[[str], None]
_WORTH_SAYING = re.compile(r"Need to get|After this operation|Fetched|[EW]: ")
_LINES_OF_FAILURE = 15


def fix(findings: Sequence[tuple[Part, Finding]], *, say: Say) -> bool:
    """Install the required parts that are missing; True when all of them are there afterwards."""
    missing = [(part, found) for part, found in findings if part.required and found.status is Status.MISSING]
    installable = [part for part, found in missing if found.installing_helps]
    if installable and not install(installable, say):
        missing = [(part, found) for part, found in missing if not found.installing_helps]
        _say_remedies(missing, say)
        return False
    return not _say_remedies([(part, part.check()) for part, _ in missing], say)


def install(parts: Sequence[Part], say: Say) -> bool:
    """Install the packages of these parts, saying first what and why; False if it failed or we may not."""
    packages = [package for part in parts for package in part.packages]
    prefix = root_prefix()
    if prefix is None:
        names = ", ".join(part.name for part in parts)
        say(f"Missing: {names}. Run this, then start again:\n{as_typed_by_user(install_line(packages))}")
        return False
    say("Installing with apt-get, which may take some minutes:")
    for part in parts:
        say(f"  {what_comes(part.packages)}: {part.name}, {part.why}")
    unattended = ("env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", install_line(packages, UNATTENDED))
    return _run([*prefix, *unattended], say)


def _run(command: Sequence[str], say: Say) -> bool:
    tail: deque[str] = deque(maxlen=_LINES_OF_FAILURE)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as running:
        for line in running.stdout or ():
            tail.append(line.rstrip())
            if _WORTH_SAYING.match(line):
                say(f"  {line.rstrip()}")
    if running.returncode != 0:
        say(f"That failed with exit code {running.returncode}; its last words:")
        for line in tail:
            say(f"  {line}")
    return running.returncode == 0


def _say_remedies(findings: Sequence[tuple[Part, Finding]], say: Say) -> bool:
    """Say what to do about each part that is missing; True if there was one."""
    missing = [(part, found) for part, found in findings if found.status is Status.MISSING]
    for part, found in missing:
        say(f"{part.name} is missing: {found.detail}. {found.remedy}")
    return bool(missing)
