import json
import os
from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.results import (
    Divergence,
    JsonLines,
    drop_cut_line,
    read_json_lines,
    record_text,
    write_atomic,
    write_json,
)


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
    lines.append({"text": "zwei\nZeilen \u2028 und ein é"})
    lines.append(2)
    raw = (tmp_path / "actions.jsonl").read_bytes()
    lines.close()
    assert raw.count(b"\n") == 2
    assert "é".encode() in raw


def test_half_a_surrogate_pair_is_kept_in_a_file_that_is_still_utf8(tmp_path: Path) -> None:
    odd = {"text": "é \ud800"}
    lines = JsonLines(tmp_path / "a.jsonl")
    lines.append(odd)
    lines.close()
    write_json(tmp_path / "a.json", odd)
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8")) == odd
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"text": "é \ufffd"}


def test_half_a_surrogate_pair_in_a_record() -> None:
    odd = Divergence(call="call-00001", explanation="x", diff="+é \ud800")
    assert Divergence.model_validate_json(record_text(odd).encode()).diff == "+é \ufffd"
    plain = Divergence(call="call-00001", explanation="é")
    assert "é" in record_text(plain)


def test_a_cut_line_is_dropped_before_anything_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for left, kept in ((b'{"a":1}\n{"b":', b'{"a":1}\n'), (b'{"b', b""), (b"1\n", b"1\n"), (b"", b"")):
        path.write_bytes(left)
        drop_cut_line(path)
        assert path.read_bytes() == kept


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
