"""The last words on a disk that is full."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawbench.results import JsonLines, Reserve, no_room, read_json_lines


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "small", path], check=False)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    yield path
    subprocess.run(["umount", path], check=True)


def fill(path: Path) -> None:
    def write_on() -> None:
        with (path / "filler").open("ab", buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    with pytest.raises(OSError, match="No space") as full:
        write_on()
    assert no_room(full.value)


def test_the_record_finds_room_on_a_full_disk(small_disk: Path) -> None:
    reserve = Reserve(small_disk / ".reserve")
    reserve.set_aside()
    record = small_disk / "run.json"
    reserve.write(record, "{}")
    fill(small_disk)
    reserve.write(record, json.dumps({"state": "done", "detail": "x" * 50_000}))
    assert json.loads(record.read_text())["state"] == "done"
    fill(small_disk)  # what the slot did not need
    reserve.write(small_disk / "interception.json", '{"intercepted": true}')
    assert json.loads((small_disk / "interception.json").read_text()) == {"intercepted": True}
    reserve.write(record, json.dumps({"detail": "x" * 400_000}))
    assert not reserve.path.exists(), "what fits into no slot takes all that is left"
    assert [path.name for path in small_disk.glob(".run.json*")] == []


def test_what_fails_for_another_reason_keeps_the_reserve(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / ".reserve")
    reserve.set_aside()
    with pytest.raises(FileNotFoundError):
        reserve.write(tmp_path / "missing" / "run.json", "{}")
    assert len(list(reserve.path.iterdir())) == 3


def test_a_line_that_does_not_fit_leaves_nothing_of_itself(small_disk: Path) -> None:
    lines = JsonLines(small_disk / "lines.jsonl")

    def write_on() -> None:
        for number in range(10_000):
            lines.append({"number": number, "text": "x" * 1000})

    with pytest.raises(OSError, match="No space"):
        write_on()
    lines.close()
    written = list(read_json_lines(lines.path))
    assert lines.path.read_bytes().endswith(b"}\n")
    assert [line["number"] for line in written] == list(range(len(written)))
