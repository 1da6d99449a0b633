"""Python interpreters of the machine: pyenv's, uv's, the system's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from clawbench.errors import MissingPartError

_NEWEST_MINOR = 14


def find_python(wanted: str) -> Path:
    """An interpreter of minor version `wanted` (such as `3.6`), else of the nearest newer one."""
    first = int(wanted.split(".")[1])
    for minor in range(first, _NEWEST_MINOR + 1):
        found = _of_version(f"3.{minor}")
        if found is not None:
            return found
    raise MissingPartError(
        f"Python {wanted}",
        "the task's tests run on it",
        f"Install it: `pyenv install {wanted}` or `uv python install {wanted}`",
    )


def _of_version(version: str) -> Path | None:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    of_pyenv = sorted(root.glob(f"{version}.*/bin/python{version}"))
    if of_pyenv:
        return of_pyenv[-1]
    uv = shutil.which("uv")
    if uv is not None:
        asked = [uv, "python", "find", "--no-python-downloads", "--no-project", "--system", version]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return Path(answer.stdout.strip()).resolve()
    on_path = shutil.which(f"python{version}", path="/usr/local/bin:/usr/bin")
    return Path(on_path).resolve() if on_path else None
