from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from clawbench.doctor import Status
from clawbench.doctor.capacity import check_git
from clawbench.doctor.media import check_ffmpeg, check_fonts, check_xvfb
from clawbench.doctor.programs import ask, version_in

FFMPEG = """
echo asked >> "$0.log"
echo 'ffmpeg version 6.1 Copyright'
echo ' V....D libx264              libx264 H.264'
"""


def times_asked(program: Path) -> int:
    log = program.with_name(f"{program.name}.log")
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_a_slow_answer_is_asked_once_per_installed_file(make_program) -> None:
    ffmpeg = make_program("ffmpeg", FFMPEG)
    assert check_ffmpeg().detail == f"6.1, libx264, {ffmpeg}"
    assert check_ffmpeg().detail == f"6.1, libx264, {ffmpeg}"
    assert times_asked(ffmpeg) == 1
    later = time.time() + 10
    os.utime(ffmpeg, (later, later))
    assert check_ffmpeg().status is Status.OK
    assert times_asked(ffmpeg) == 2


def test_a_failure_is_never_remembered(make_program) -> None:
    ffmpeg = make_program("ffmpeg", "echo 'ffmpeg version 6.1'; echo ' V....D mpeg4  MPEG-4'")
    finding = check_ffmpeg()
    assert finding.status is Status.MISSING
    assert "libx264" in finding.detail
    stamp = ffmpeg.stat().st_mtime_ns
    make_program("ffmpeg", FFMPEG)
    os.utime(ffmpeg, ns=(stamp, stamp))
    assert check_ffmpeg().status is Status.OK


@pytest.mark.parametrize("content", ["not json", "[]", '{"libx264 /x": 3}'])
def test_a_damaged_memory_is_only_slower(make_program, tmp_path: Path, content: str) -> None:
    make_program("ffmpeg", FFMPEG)
    memory = tmp_path / "cache/clawbench/doctor.json"
    memory.parent.mkdir(parents=True)
    memory.write_text(content)
    assert check_ffmpeg().status is Status.OK


def test_a_cache_that_cannot_be_written_is_only_slower(make_program, monkeypatch: pytest.MonkeyPatch) -> None:
    ffmpeg = make_program("ffmpeg", FFMPEG)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    assert check_ffmpeg().status is Status.OK
    assert check_ffmpeg().status is Status.OK
    assert times_asked(ffmpeg) == 2


@pytest.mark.usefixtures("only_path")
def test_what_is_not_on_path_is_missing() -> None:
    for check in (check_ffmpeg, check_xvfb, check_git):
        assert check().status is Status.MISSING


def test_an_old_git_is_missing_and_a_new_one_is_not(make_program) -> None:
    make_program("git", "echo git version 2.29.9")
    assert check_git().status is Status.MISSING
    assert "2.30" in check_git().detail
    make_program("git", "echo git version 2.30.0.windows.1")
    assert check_git().status is Status.OK


def test_an_xvfb_that_cannot_share_its_frame_buffer_is_missing(make_program) -> None:
    make_program("Xvfb", "echo 'use: X [:<display>] [option]'")
    assert check_xvfb().status is Status.MISSING


def test_no_font_for_letters_is_missing(make_program) -> None:
    make_program("fc-list", "true")
    assert check_fonts().status is Status.MISSING
    make_program("fc-list", "echo 'DejaVu Sans,DejaVu Sans Light'; echo 'Liberation Sans'")
    assert check_fonts().detail == "2 families, such as DejaVu Sans"


def test_a_program_that_hangs_or_is_absent_is_an_answer(make_program) -> None:
    hanging = make_program("hanging", "exec /bin/sleep 60")
    assert ask(hanging, patience_s=0.2).code == 124
    assert ask("/nowhere/at/all").code == 127


def test_versions_are_numbers_not_text() -> None:
    assert version_in("git version 2.9.1") == (2, 9, 1)
    assert version_in("2.30") == (2, 30)
    assert version_in("none") is None
