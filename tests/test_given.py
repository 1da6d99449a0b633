"""Whatever is wrong with a file that a user gives, the error names it and says what to do."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.repo.setup.packages import Installer
from clawbench.errors import InputError, MissingPartError
from clawbench.extras import extra_line, install_line
from clawbench.given import parse_json, read_given, read_json, read_yaml, usable_path
from clawbench.tasks.setup import Setup

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
        (b"a: !!bool x", read_yaml, "is not YAML (line 1, column 4: no bool can be made of it)"),
        (b'a:\n  - !!int ""', read_yaml, "is not YAML (line 2, column 5: no int can be made of it)"),
        (b"a: !!timestamp x", read_yaml, "is not YAML (line 1, column 4: no timestamp"),
        (b"a: 1" + b":59" * 200 + b".5", read_yaml, "is not YAML (line 1, column 4: no float"),
        (b"a: 1\nb: 2\n'a': 3", read_yaml, "is not YAML (line 3, column 1: 'a' is there already, in line 1)"),
        (b"x: {y: 1, y: 1}", read_yaml, "is not YAML (line 1, column 11: 'y' is there already"),
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


def test_names_that_were_merged_in_may_be_given_again(tmp_path: Path) -> None:
    file = tmp_path / "given"
    file.write_text("a: &a {x: 1, y: 1}\nb: {c: &c {<<: *a, x: 2}}\nd: {<<: *c, x: 3}\n1: a\n'1': b\n")
    read = read_yaml(file, "")
    assert read["b"]["c"] == {"x": 2, "y": 1}
    assert read["d"] == {"x": 3, "y": 1}
    assert (read[1], read["1"]) == ("a", "b")


@pytest.mark.parametrize(
    ("name", "told"),
    [("a" * 300, "File name too long"), ("a\0b", "null"), ("loop/b", "Too many levels of symbolic links")],
)
def test_paths_that_cannot_be(name: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    path = tmp_path / name
    told = f"--x: is no usable path .*{told}.*Give another$"
    with pytest.raises(InputError, match=told) as caught, usable_path(path, "Give another", "--x"):
        os.stat(path)
    assert caught.value.file == path


def test_a_line_of_many_is_named() -> None:
    with pytest.raises(InputError, match=r"^rows: line 7 is not JSON .*Write objects$"):
        parse_json("{", Path("rows"), 7, "Write objects")


def test_packages_go_beside_clawbench() -> None:
    assert install_line("-e", "a b") == f"{sys.executable} -m uv pip install -e 'a b'"
    assert extra_line("swebench").partition("install ")[2].startswith("'swebench>=")
    assert "huggingface-hub" in extra_line("hf")
    assert "pyarrow" in extra_line("hf")


async def test_an_installer_that_is_missing_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    installer = Installer(tmp_path, Setup(python="3.11", newest="2024-01-01"))
    with pytest.raises(MissingPartError, match=re.escape(install_line("uv"))):
        await installer.install(["pytz"])
