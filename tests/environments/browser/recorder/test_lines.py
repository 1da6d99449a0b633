"""Lines on a disk that is full, as the kernel reports it."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.results import read_json_lines


def test_a_line_that_does_not_fit_is_left_out_whole_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "actions.jsonl"
    lines = RecordFile(path)
    lines.append({"n": 1})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, limits[1]))
    try:
        lines.append({"n": 2, "text": "x" * 100})
        lines.append({"n": 3})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    lines.append({"n": 4})
    lines.close()
    assert [line["n"] for line in read_json_lines(path)] == [1, 3, 4]
    assert lines.count == 3
    assert lines.problem == f"{path}: File too large"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "small", path], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield path
    subprocess.run(["umount", path], check=True)


def test_a_full_disk_is_told_of_before_a_line_is_lost(small_disk: Path) -> None:
    told: list[str] = []
    lines = RecordFile(small_disk / "lines.jsonl", told.append)
    with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(bytes(4096)):
            pass
    while not told:
        assert lines.append({"text": "x" * 500}) is not None
    assert "No space left" in told[0]
    for _ in range(50):
        assert lines.append({"text": "x" * 500}) is not None, "what was under way still fits"
    lines.close()
    assert len(list(read_json_lines(small_disk / "lines.jsonl"))) == lines.count
    assert os.statvfs(small_disk).f_bfree > 0, "room that was not needed is given back"
