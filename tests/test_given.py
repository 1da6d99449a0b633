"""Whatever is wrong with a file that a user gives, the error names it and says what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError
from clawbench.extras import extra_line, install_line
from clawbench.given import parse_json, read_given, read_json, read_yaml

READERS = (read_json, read_yaml)


@pytest.mark.parametrize(
    ("content", "reader", "told"),
    [
        (b"\xff\xfea", read_json, "is not UTF-8 (byte 0)"),
        (b"a: \x80", read_yaml, "is not UTF-8 (byte 3)"),
        (b"", read_json, "is not JSON"),
        (b'{"a": [1,', read_json, "is not JSON"),
        (b"[" * 100_000, read_json, "is not JSON"),
        (b"9" * 5_000, read_json, "is not JSON"),
        (b"a: [1\nb: 2", read_yaml, "is not YAML (line 2, column 2: expected ',' or ']'"),
        (b"a:\n\tb: 1", read_yaml, "is not YAML (line 2, column 1"),
        (b"[" * 5_000, read_yaml, "is not YAML"),
        (b"a: 2026-99-99", read_yaml, "is not YAML"),
        (b"a\x00b", read_yaml, "is not YAML"),
        (b"!!python/object/apply:os.system [id]", read_yaml, "is not YAML"),
    ],
)
def test_bad_content(content: bytes, reader: Callable[..., Any], told: str, tmp_path: Path) -> None:
    file = tmp_path / "given"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        reader(file, "Give another")
    assert str(caught.value).startswith(f"{file}: {told}"), caught.value
    assert caught.value.remedy


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file(reader: Callable[..., Any], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    for name, told in {
        ".": "is a directory",
        "fifo": "is no regular file",
        "loop": "cannot be read (Too many levels of symbolic links)",
        "absent": "cannot be read (No such file or directory)",
    }.items():
        with pytest.raises(InputError, match=f"{told.split('(')[0]}.*Give another"):
            reader(tmp_path / name, "Give another")


def test_an_unreadable_file(tmp_path: Path) -> None:
    file = tmp_path / "given"
    file.write_text("{}")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("root may read everything")
    with pytest.raises(InputError, match="Permission denied"):
        read_given(file, "Give another")


def test_good_content(tmp_path: Path) -> None:
    file = tmp_path / "given"
    file.write_bytes('\ufeff{"é": 1}'.encode())
    assert read_json(file, "") == read_yaml(file, "") == {"é": 1}


def test_a_line_of_many_is_named() -> None:
    with pytest.raises(InputError, match=r"^rows: line 7 is not JSON .*Write objects$"):
        parse_json("{", Path("rows"), 7, "Write objects")


def test_packages_go_beside_clawbench() -> None:
    assert install_line("-e", "a b") == f"{sys.executable} -m uv pip install -e 'a b'"
    assert extra_line("swebench").partition("install ")[2].startswith("'swebench>=")
    assert "huggingface-hub" in extra_line("hf")
    assert "pyarrow" in extra_line("hf")
