from __future__ import annotations

from collections import namedtuple

import pytest

from clawbench.doctor import PARTS, Finding, Status, capacity, examine, require
from clawbench.errors import MissingPartError

Usage = namedtuple("Usage", "total used free")


def test_every_part_tells_why_it_is_needed_and_for_what() -> None:
    assert len({part.name for part in PARTS}) == len(PARTS)
    for part in PARTS:
        assert part.why
        assert part.needed_for


def test_purposes_choose_the_parts() -> None:
    coding = {part.name for part, _ in examine({"coding"})}
    assert {"git", "Python", "disk"} <= coding
    assert not coding & {"Xvfb", "bubblewrap", "container engine"}
    assert {part.name for part, _ in examine()} == {part.name for part in PARTS}


def test_a_purpose_nobody_knows_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="wbe"):
        examine({"wbe"})


@pytest.mark.usefixtures("only_path")
def test_an_empty_machine_lacks_every_program() -> None:
    found = {part.name: finding for part, finding in examine()}
    programs = {"git", "Chromium or Chrome", "Xvfb", "ffmpeg", "bubblewrap", "container engine"}
    assert {name for name in programs if found[name].status is Status.MISSING} == programs
    assert all(finding.remedy for finding in found.values() if finding.status is Status.MISSING)


@pytest.mark.usefixtures("only_path")
def test_require_names_part_reason_remedy_and_the_others() -> None:
    with pytest.raises(MissingPartError) as caught:
        require("web")
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert "Chromium or Chrome is missing (web tasks run in a real browser)" in message
    assert "Also missing: Xvfb, ffmpeg" in message
    assert "chromium" in caught.value.remedy


def test_require_is_content_with_what_is_there(make_program) -> None:
    make_program("git", "echo git version 2.40.1")
    require("coding")


def test_little_disk_and_memory_warn_but_do_not_stop(make_program, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program("git", "echo git version 2.40.1")
    monkeypatch.setattr(capacity.shutil, "disk_usage", lambda _: Usage(10**10, 9 * 10**9, 10**9))
    monkeypatch.setattr(capacity, "available_memory", lambda: 5 * 10**8)
    found: dict[str, Finding] = {part.name: finding for part, finding in examine({"coding"})}
    assert found["disk"].status is Status.WARNING
    assert found["disk"].detail.startswith("1.0 GB free")
    assert found["memory"].status is Status.WARNING
    assert found["memory"].remedy
    require("coding")


def test_available_memory_is_a_part_of_the_machines() -> None:
    assert 0 < capacity.available_memory() < 10**14
