from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clawbench.doctor import Status, isolation

BLOCKED = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"


def test_bubblewrap_really_makes_a_sandbox_here() -> None:
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    finding = isolation.check_bubblewrap()
    assert finding.status is Status.OK, finding
    assert "made a sandbox" in finding.detail


def test_a_bubblewrap_that_is_held_back_is_missing_and_installing_does_not_help(make_program) -> None:
    make_program("bwrap", BLOCKED)
    finding = isolation.check_bubblewrap()
    assert finding.status is Status.MISSING
    assert "uid map: Permission denied" in finding.detail
    assert finding.remedy
    assert not finding.installing_helps


def test_apparmors_restriction_is_recognised_and_its_remedy_is_one_shell_line(
    make_program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program("bwrap", BLOCKED)
    switch = tmp_path / "apparmor_restrict_unprivileged_userns"
    switch.write_text("1\n")
    monkeypatch.setattr(isolation, "_APPARMOR", switch)
    monkeypatch.setattr(isolation, "is_root", lambda: False)
    remedy = isolation.check_bubblewrap().remedy
    assert "AppArmor" in remedy
    assert "\n" not in remedy
    line = remedy.partition(": ")[2]
    assert "apparmor_parser -r /etc/apparmor.d/bwrap" in line
    subprocess.run(["/bin/sh", "-n", "-c", line], check=True)
    switch.write_text("0\n")
    assert "AppArmor" not in isolation.check_bubblewrap().remedy


def test_a_kernel_told_not_to_make_user_namespaces_names_its_setting(
    make_program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program("unshare", "echo 'unshare failed: No space left on device'; exit 1")
    switch = tmp_path / "max_user_namespaces"
    switch.write_text("0\n")
    monkeypatch.setattr(isolation, "_SYSCTLS", {switch: "user.max_user_namespaces=15000"})
    finding = isolation.check_user_namespaces()
    assert finding.status is Status.MISSING
    assert "sysctl -w user.max_user_namespaces=15000" in finding.remedy


def test_an_engine_without_its_daemon_says_so(make_program) -> None:
    make_program("docker", "echo 'Cannot connect to the Docker daemon at unix:///x.sock.'; exit 1")
    finding = isolation.check_container_engine()
    assert finding.status is Status.MISSING
    assert "Cannot connect" in finding.detail
    assert not finding.installing_helps
    make_program("podman", "echo 4.3.1")
    assert isolation.check_container_engine().detail == "podman 4.3.1"


def test_control_groups_are_told_never_required() -> None:
    assert isolation.check_control_groups().status is Status.OK
