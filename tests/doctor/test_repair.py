from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clawbench.doctor import Finding, Part, Status, fix, repair, system
from clawbench.doctor.system import as_typed_by_user, install_line, not_there

APT = """
echo "$@" >> "$0.log"
case "$*" in *install*) touch "$0.done"; echo Need to get 1 MB of archives. ;; esac
"""
OK = Finding(Status.OK, "there")


def part(check: Callable[[], Finding], *, required: bool = True) -> Part:
    return Part("tool", "it is useful", ("tool-package",), frozenset({"web"}), required, check)


@pytest.fixture
def apt(make_program, only_path: Path) -> Path:
    for name in ("env", "sh", "touch"):
        (only_path / name).symlink_to(str(shutil.which(name, path="/usr/bin:/bin")))
    return make_program("apt-get", APT)


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "root_prefix", lambda: [])


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "root_prefix", lambda: None)
    monkeypatch.setattr(system, "is_root", lambda: False)


def brought_by(apt: Path) -> Callable[[], Finding]:
    return lambda: OK if Path(f"{apt}.done").exists() else not_there(("tool-package",))


@pytest.mark.usefixtures("as_root")
def test_as_root_the_missing_is_announced_then_installed_then_checked(apt: Path) -> None:
    said: list[str] = []
    tool = part(brought_by(apt))
    assert fix([(tool, tool.check())], say=said.append)
    calls = Path(f"{apt}.log").read_text().splitlines()
    assert calls[0] == "update"
    assert calls[1].endswith("install --no-install-recommends tool-package")
    assert "  tool-package: tool, it is useful" in said
    assert "  Need to get 1 MB of archives." in said


@pytest.mark.usefixtures("as_user")
def test_without_rights_the_one_line_is_said_and_nothing_is_run(apt: Path) -> None:
    said: list[str] = []
    tool = part(brought_by(apt))
    assert not fix([(tool, tool.check())], say=said.append)
    assert not Path(f"{apt}.log").exists()
    assert len(said) == 1
    line = said[0].splitlines()[1]
    assert line == "su -c 'apt-get update && apt-get -y install --no-install-recommends tool-package'"


@pytest.mark.usefixtures("as_root")
def test_a_failing_apt_is_quoted(make_program, apt: Path) -> None:
    make_program("apt-get", "echo 'E: Unable to locate package tool-package'; exit 100")
    said: list[str] = []
    tool = part(brought_by(apt))
    assert not fix([(tool, tool.check())], say=said.append)
    assert any("exit code 100" in line for line in said)
    assert any("Unable to locate" in line for line in said)


@pytest.mark.usefixtures("as_root")
def test_what_no_package_brings_gets_its_remedy_said(apt: Path) -> None:
    said: list[str] = []
    held_back = part(lambda: Finding(Status.MISSING, "held back", "Let it go"))
    assert not fix([(held_back, held_back.check())], say=said.append)
    assert said == ["tool is missing: held back. Let it go"]
    assert not Path(f"{apt}.log").exists()


@pytest.mark.usefixtures("as_root")
def test_optional_parts_are_left_alone(apt: Path) -> None:
    optional = part(brought_by(apt), required=False)
    assert fix([(optional, optional.check())], say=print)
    assert not Path(f"{apt}.log").exists()


def test_on_ubuntu_the_browser_comes_as_googles_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "distribution", lambda: "ubuntu")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    line = install_line(["chromium", "xvfb"])
    assert " chromium" not in line
    assert "xvfb ca-certificates wget && " in line
    assert line.endswith("$d/chrome.deb")
    assert "dl.google.com" in system.what_comes(["chromium"])
    assert system.browser_is_installable()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert not system.browser_is_installable()


def test_on_debian_the_browser_is_a_package_like_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "distribution", lambda: "debian")
    line = install_line(["chromium", "xvfb"])
    assert line == "apt-get update && apt-get -y install --no-install-recommends chromium xvfb"


@pytest.mark.usefixtures("only_path", "as_user")
def test_without_apt_the_package_manager_is_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = not_there(("xvfb",))
    assert "package manager" in finding.remedy
    assert not finding.installing_helps


@pytest.mark.usefixtures("as_user")
def test_a_line_for_sudo_is_ready_to_paste(make_program) -> None:
    make_program("sudo", "exit 1")
    assert as_typed_by_user("true") == "sudo sh -c 'true'"
