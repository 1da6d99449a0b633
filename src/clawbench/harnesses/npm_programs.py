"""What adapters of programs from npm share."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence

CONTEXT_WINDOW = 200_000
"""What a harness is told that has to know the model's window, to shorten the conversation in time."""

ANSWER_TOKENS = 16_384
"""What one answer may have where the model's entry does not say and the harness has to."""

LAST_ATTEMPT = 4
"""How often a call that failed is tried again: some seconds, then the run is over."""


def npm_platform() -> str:
    """How npm packages with native programs call this machine."""
    machine = platform.machine()
    return f"linux-{'x64' if machine == 'x86_64' else 'arm64' if machine == 'aarch64' else machine}"


def reading(prompt_file: str, argv: Sequence[str]) -> list[str]:
    """The command with the prompt on its standard input, which ends with it."""
    return ["/bin/sh", "-c", f'exec "$0" "$@" <{shlex.quote(prompt_file)}', *argv]
