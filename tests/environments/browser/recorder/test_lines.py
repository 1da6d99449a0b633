"""Lines that may wait, and lines on a disk that is full, as the kernel reports it."""

from __future__ import annotations

import asyncio
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


@pytest.mark.anyio
async def test_lines_that_may_wait_are_written_soon_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "commands.jsonl"
    lines = RecordFile(path)

    def written() -> list[int]:
        return list(read_json_lines(path))

    lines.append_soon(1)
    lines.append_soon(2)
    assert written() == []
    while written() != [1, 2]:  # noqa: ASYNC110 - what is watched is a file
        await asyncio.sleep(0)
    lines.append_soon(3)
    assert lines.append(4) == 3
    assert written() == [1, 2, 3, 4]
    lines.append_soon(5)
    lines.close()
    assert written() == [1, 2, 3, 4, 5]
    assert (lines.count, lines.problem) == (5, None)


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
