"""The same tests once more as an ordinary user, where the suite itself is run by root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import clawbench

NOBODY = 65534
HERE = Path(__file__).parent
CHOSEN = (
    "test_isolation.py",
    "test_guardian.py",
    "test_ending.py::test_end_takes_daemons_along",
    "test_limits.py::test_memory",
    "test_limits.py::test_processes",
    "test_services.py::test_200_parallel_connections_through_a_bridge",
)


@pytest.fixture
def private_directory() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="clawbench-nobody-"))
    os.chown(path, NOBODY, NOBODY)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def interpreter_for_all() -> str:
    """A Python of our version that any user may run: the one below /root is for root only."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (f"{sys.base_prefix}/bin/{name}", f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        command = [candidate, "-c", "import asyncio"]
        try:
            subprocess.run(command, user=NOBODY, group=NOBODY, check=True, capture_output=True, cwd="/")
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    pytest.skip(f"no {name} that an ordinary user may run")


def readable_for_all(python: str, libraries: list[str]) -> bool:
    tried = subprocess.run(
        [python, "-c", f"import clawbench.sandbox, pytest, os; os.listdir({str(HERE)!r})"],
        user=NOBODY,
        group=NOBODY,
        env={"PYTHONPATH": os.pathsep.join(libraries)},
        cwd="/",
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="the suite is run by an ordinary user already")
def test_all_holds_for_an_ordinary_user_too(private_directory: Path) -> None:
    python = interpreter_for_all()
    libraries = [str(Path(pytest.__file__).parent.parent), str(Path(clawbench.__file__).parent.parent)]
    if not readable_for_all(python, libraries):
        pytest.skip("an ordinary user may not read this checkout and its libraries")
    chosen = [str(HERE / name) for name in CHOSEN]
    argv = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    argv += ["--basetemp", str(private_directory / "tests"), "-k", "not none", *chosen]
    env = {"PATH": os.environ["PATH"], "HOME": str(private_directory), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        argv,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env={**env, "PYTHONPATH": os.pathsep.join(libraries)},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.rsplit(" passed", 1)[0].split()[-1]) > 20
