"""The demo's runs, made once for all tests that look at them, whichever worker they are on."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What `clawbench demo --json` says: web pass and fail, coding resolved and unresolved."""
    own = tmp_path_factory.getbasetemp()
    base = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "demo"
    base.mkdir(exist_ok=True)
    made = base / "records.json"
    with (base / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            made.write_text(_run_demo(base))
    found: list[dict[str, Any]] = json.loads(made.read_text())
    return found


def _run_demo(base: Path) -> str:
    scratch = base / "t"
    scratch.mkdir(exist_ok=True)
    finished = subprocess.run(
        [sys.executable, "-m", "clawbench", "demo", "--output", str(base / "runs"), "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch), "CLAWBENCH_CACHE": str(base / "cache")},
        timeout=280,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert "scripted" in finished.stderr
    assert list(scratch.iterdir()) == [], "the scratch directory must be gone"
    return finished.stdout
