"""Toolchains of the suite mini-swe: only what a sandbox sees counts, and versions are compared as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawbench.doctor import Status, check_part, toolchains
from clawbench.doctor.toolchains import TOOLCHAINS, Toolchain


def program(directory: Path, name: str, says: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (directory / name).chmod(0o755)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that stands for /usr/bin, and nothing of this machine."""
    monkeypatch.setattr(toolchains, "VISIBLE", str(tmp_path / "bin"))
    monkeypatch.setattr(toolchains, "_SHOWN", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


FAKE = Toolchain("Fake", "Fake", ("fake-lang",), ("fake", "--version"), (1, 18), (3,), programs=("fakec",))


@pytest.mark.parametrize(
    ("says", "status", "detail"),
    [
        ("fake version go1.9.7", Status.MISSING, "at least 1.18"),
        ("fake version go1.18", Status.OK, "1.18"),
        ("fake 1.100.2 (2026)", Status.OK, "1.100.2"),
        ("3.0.1", Status.MISSING, "too new"),
        ("no number", Status.MISSING, "does not say its version"),
    ],
)
def test_version(place: Path, says: str, status: Status, detail: str) -> None:
    program(place / "bin", "fake", says)
    program(place / "bin", "fakec", "")
    finding = FAKE.check()
    assert finding.status is status
    assert detail in finding.detail


def test_what_is_not_there_is_named(place: Path) -> None:
    assert "no fakec" in FAKE.check().detail
    program(place / "bin", "fakec", "")
    assert "no fake" in FAKE.check().detail
    assert FAKE.part().packages == ("fake-lang",)


def test_a_link_out_of_sight_does_not_count(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("home")
    program(elsewhere, "fake", "1.20")
    program(place / "bin", "fakec", "")
    (place / "bin" / "fake").symlink_to(elsewhere / "fake")
    assert FAKE.check().status is Status.MISSING


@pytest.mark.parametrize("toolchain", TOOLCHAINS, ids=lambda toolchain: toolchain.name)
def test_each_is_a_part_that_only_the_suite_needs(toolchain: Toolchain) -> None:
    part = toolchain.part()
    assert (part.needed_for, part.required) == (frozenset({"mini-swe"}), False)
    finding = check_part(toolchain.name)
    assert finding.status is Status.OK or finding.remedy
