from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clawbench.doctor import Status, find_browser
from clawbench.doctor.browser import check_browser, is_snap
from clawbench.errors import InputError

UBUNTU_STUB = """
if ! [ -x /snap/bin/chromium ]; then
    echo "Command '$0' requires the chromium snap to be installed." >&2
    echo "Please install it with: snap install chromium" >&2
    exit 1
fi
exec /snap/bin/chromium "$@"
"""


def test_the_browser_of_this_machine_is_found_and_tells_its_version() -> None:
    if not find_browser():
        pytest.skip("no Chromium or Chrome here")
    finding = check_browser()
    assert finding.status is Status.OK
    assert finding.detail.startswith(("Chromium ", "Google Chrome "))
    assert str(find_browser()) in finding.detail


def test_ubuntus_snap_stub_is_no_browser(make_program) -> None:
    stub = make_program("chromium-browser", UBUNTU_STUB)
    assert is_snap(stub)
    assert find_browser() is None
    finding = check_browser()
    assert finding.status is Status.MISSING
    assert "snap" in finding.detail


def test_a_snap_stub_does_not_hide_a_chrome_behind_it(make_program) -> None:
    make_program("chromium-browser", UBUNTU_STUB)
    chrome = make_program("google-chrome", "echo Google Chrome 130.0.6723.58")
    assert find_browser() == chrome
    assert check_browser().detail == f"Google Chrome 130.0.6723.58, {chrome}"


def test_a_link_to_snap_itself_is_a_snap(tmp_path: Path, only_path: Path) -> None:
    (tmp_path / "snap").write_bytes(b"\x7fELF")
    (tmp_path / "snap").chmod(0o755)
    (only_path / "chromium").symlink_to(tmp_path / "snap")
    assert find_browser() is None


def test_the_environment_overrides_what_is_on_path(
    make_program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program("chromium", "echo Chromium 1.2")
    mine = tmp_path / "my browser"
    shutil.copy(make_program("other", "echo Chromium 3.4"), mine)
    monkeypatch.setenv("CLAWBENCH_BROWSER", str(mine))
    assert find_browser() == mine
    assert check_browser().detail == f"Chromium 3.4, {mine}"


def test_an_override_without_a_program_is_an_error_that_names_it(
    make_program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program("chromium", "echo Chromium 1.2")
    monkeypatch.setenv("CLAWBENCH_BROWSER", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"CLAWBENCH_BROWSER.*gone.*unset"):
        find_browser()
    finding = check_browser()
    assert finding.status is Status.MISSING
    assert "gone" in finding.detail
    assert not finding.installing_helps


def test_a_browser_that_does_not_start_is_missing_with_its_last_words(make_program) -> None:
    make_program("chromium", "echo libnss3.so: cannot open shared object file >&2; exit 127")
    finding = check_browser()
    assert finding.status is Status.MISSING
    assert "does not start" in finding.detail
    assert "libnss3.so" in finding.detail
