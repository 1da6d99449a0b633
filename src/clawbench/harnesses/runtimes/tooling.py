"""Running other people's installers: their own configuration, and an error that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from clawbench.errors import ClawbenchError, MissingPartError

Say = Callable[[str], None]
"""Told what is being done, in few words."""
_SHOWN_LINES = 12


class InstallError(ClawbenchError):
    """A part could not be installed; what was there of it is removed."""


@dataclass(frozen=True)
class Sources:
    """Where packages come from, if not from the indexes that this machine is set up for."""

    wheelhouse: Path | None = None
    npm_cache: Path | None = None
    source: Path | None = None
    """A git repository or a tree, for a part that is only published as source."""


def run_tool(
    argv: Sequence[str | Path],
    remedy: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Its standard output. InstallError with its last lines where it failed."""
    done = subprocess.run(
        [str(word) for word in argv],
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return done.stdout
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    shown = "\n".join(f"  {line}" for line in said[-_SHOWN_LINES:])
    words = " ".join(str(word) for word in argv[:3])
    raise InstallError(f"`{words} …` ended with {done.returncode}:\n{shown}\n{remedy}")


def need_program(name: str, why: str, remedy: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingPartError(name, why, remedy)
    return found


def uv(*words: str | Path, remedy: str, env: Mapping[str, str] | None = None) -> str:
    return run_tool([find_uv_bin(), *words], remedy, env={**_pip_settings(), **(env or {})})


def _pip_settings() -> dict[str, str]:
    """Let uv use the index and certificates that pip is told about by the environment."""
    pairs = (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE"))
    return {
        ours: os.environ[theirs] for theirs, ours in pairs if theirs in os.environ and ours not in os.environ
    }
