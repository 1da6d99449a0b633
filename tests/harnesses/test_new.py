"""A package that `harness new` wrote passes its own test once it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import uv

from clawbench.errors import InputError
from clawbench.harnesses.starting import write_package


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=200
    )


def test_it_passes_its_own_test_as_it_is(tmp_path: Path) -> None:
    package = tmp_path / "package"
    made = run(sys.executable, "-m", "clawbench", "harness", "new", "my-agent", package, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    tools = uv.find_uv_bin()
    venv = tmp_path / "venv"
    assert run(tools, "venv", "-q", "--python", sys.executable, venv, cwd=tmp_path).returncode == 0
    python = venv / "bin" / "python"
    (site,) = venv.glob("lib/python*/site-packages")
    ours = [sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("/src"))]
    (site / "clawbench-and-pytest.pth").write_text("\n".join(ours) + "\n")
    options = ("--offline", "--no-deps", "--cache-dir", tmp_path / "cache", "--python", python)
    installed = run(tools, "pip", "install", "-q", *options, "-e", package, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    tested = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=package)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "2 passed" in tested.stdout
    style = ["--isolated", "--line-length", "110", "--no-cache", str(package)]
    linted = run(Path(sys.executable).with_name("ruff"), "format", "--check", *style, cwd=tmp_path)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize(
    ("name", "problem"), [("My Agent", "no name"), ("-x", "no name"), ("null", "already"), ("a/b", "no name")]
)
def test_a_name_that_will_not_do_writes_nothing(name: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=problem):
        write_package(name, tmp_path / "package")
    assert not (tmp_path / "package").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        write_package("my-agent", tmp_path)
    assert os.listdir(tmp_path) == ["mine.txt"]
