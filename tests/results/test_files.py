import json
import os
from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.results import JsonLines, read_json_lines, write_atomic, write_json


def test_atomic_write_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_atomic(path, "long old content")
    write_json(path, {"a": 1})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_failed_atomic_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_atomic(path, "old")
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomic(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_json_lines_are_on_disk_before_append_returns(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "actions.jsonl")
    lines.append({"text": "zwei\nZeilen \u2028 und ein Ersatz \ud800"})
    lines.append(2)
    raw = (tmp_path / "actions.jsonl").read_bytes()
    lines.close()
    assert raw.count(b"\n") == 2


def test_a_line_cut_short_by_a_crash_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    assert list(read_json_lines(path)) == [{"a": 1}]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":\n{"c":1}\n')
    with pytest.raises(InputError, match="line 2 is not JSON") as caught:
        list(read_json_lines(path))
    assert str(path) in str(caught.value)


def test_json_lines_do_not_leak_into_children(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "x.jsonl")
    assert not os.get_inheritable(lines._fd)
    lines.close()
