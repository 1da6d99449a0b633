"""Runs the command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys


def clawbench(*arguments: str, within_s: float = 60, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clawbench", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=within_s,
        check=False,
    )
