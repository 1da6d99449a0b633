"""run.sh with a small project around it: the real uv, real locks, a real editable install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CLI = """import sys
def main() -> None:
    print("clawbench", *sys.argv[1:], sep="|")
"""
GROUPS = 'import os, sys; print("groups", os.path.basename(os.getcwd()), *sys.argv[1:], sep="|")'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    package = folder / "src/clawbench"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(CLI)
    for name in ("tests", "tools", "benchmarks"):
        (folder / name).mkdir()
    (folder / "tests/groups.py").write_text(GROUPS)
    (folder / "benchmarks/start.py").write_text('import sys; print("start", *sys.argv[1:], sep="|")')
    for name in (
        "run.sh",
        "tools/prepare.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "requirements-bootstrap.lock",
    ):
        shutil.copy(ROOT / name, folder / name)
    (folder / "requirements.lock").write_text(locked("iniconfig"))
    (folder / "requirements-dev.lock").write_text(locked("iniconfig") + locked("pluggy"))
    return folder


def locked(package: str) -> str:
    """One package's entry of the real development lock."""
    lines = (ROOT / "requirements-dev.lock").read_text().splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{package}=="))
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
    return "".join(lines[start:end])


def start(
    project: Path, *arguments: str, shell: str = "sh", **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shell, project / "run.sh", *arguments],
        cwd="/",
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def packages(project: Path) -> set[str]:
    site = next((project / ".venv/lib").glob("python*/site-packages"))
    return {folder.name.split("-")[0] for folder in site.glob("*.dist-info")}


def test_without_arguments_it_tells_its_use_and_installs_nothing(project: Path) -> None:
    done = start(project)
    assert done.returncode == 0
    assert "./run.sh demo" in done.stdout
    assert not (project / ".venv").exists()


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_command_is_handed_over_word_for_word_and_the_second_start_installs_nothing(
    project: Path, shell: str
) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    first = start(project, "run", "two words", "--x=*", shell=shell)
    assert (first.returncode, first.stdout) == (0, "clawbench|run|two words|--x=*\n"), first.stderr
    assert "installing requirements.lock" in first.stderr
    assert packages(project) == {"clawbench", "iniconfig"}
    began = time.monotonic()
    second = start(project, "doctor", shell=shell)
    assert (second.stdout, second.stderr) == ("clawbench|doctor\n", "")
    assert time.monotonic() - began < 2


def test_test_brings_the_development_parts_which_later_starts_keep(project: Path) -> None:
    done = start(project, "test", "all", "some group")
    assert done.stdout == "clawbench|doctor|--fix|--for|human\ngroups|a project|all|some group\n", done.stderr
    assert packages(project) == {"clawbench", "iniconfig", "pluggy"}
    assert start(project, "demo").stderr == ""
    assert "pluggy" in packages(project)


def test_a_changed_lock_is_installed_a_broken_environment_made_anew(project: Path) -> None:
    assert start(project, "demo").returncode == 0
    (project / "requirements.lock").write_text(locked("pluggy"))
    assert start(project, "demo").returncode == 0
    assert packages(project) == {"clawbench", "pluggy"}
    (project / ".venv/bin/python").unlink()
    (project / ".venv/bin/python").symlink_to("/nowhere/python3")
    done = start(project, "demo")
    assert done.stdout == "clawbench|demo\n", done.stderr


def test_a_tree_that_was_moved_works_where_it_is_now(project: Path) -> None:
    assert start(project, "demo").returncode == 0
    moved = project.rename(project.with_name("moved"))
    done = start(moved, "demo")
    assert done.stdout == "clawbench|demo\n", done.stderr


def test_a_package_that_is_not_what_the_lock_says_is_refused(project: Path) -> None:
    lock = locked("iniconfig")
    (project / "requirements.lock").write_text(re.sub("sha256:....", "sha256:0000", lock))
    done = start(project, "demo")
    assert done.returncode == 1
    assert "hash" in done.stderr.lower()
    assert done.stdout == ""


def test_two_starts_at_once_install_once(project: Path) -> None:
    command = ["sh", project / "run.sh", "demo"]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    told = [process.communicate(timeout=200) for process in both]
    assert [out for out, _ in told] == ["clawbench|demo\n"] * 2, told
    assert sum(err.count("installing requirements.lock") for _, err in told) == 1


def test_a_home_that_cannot_be_written_is_left_alone(project: Path) -> None:
    done = start(project, "demo", HOME="/proc", XDG_CACHE_HOME="")
    assert done.stdout == "clawbench|demo\n", done.stderr
    assert (project / ".clawbench/uv").is_dir()


def test_bench_runs_one_and_lists_them_when_it_does_not_know_it(project: Path) -> None:
    done = start(project, "bench", "start", "--fast")
    assert done.stdout == "start|--fast\n", done.stderr
    unknown = start(project, "bench", "nothing")
    assert unknown.returncode == 2
    assert "there are: start" in unknown.stderr


def test_without_python_it_says_what_is_needed(project: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "readlink", "id", "sed"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = start(project, "demo", PATH=str(tools), PYENV_ROOT="/nowhere")
    assert done.returncode == 2
    assert "Python 3.11 or newer" in done.stderr
    assert not (project / ".venv").exists()
