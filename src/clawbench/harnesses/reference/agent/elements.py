"""The functions that run in the page, on one element or on the whole of it."""

from __future__ import annotations

from pathlib import Path


def _script(name: str) -> str:
    return (Path(__file__).parent / "page" / f"{name}.js").read_text(encoding="utf-8")


READ = _script("read")
PLACE = _script("place")
POINT = _script("point")
FIELD = _script("field")
SELECT = _script("select")
SET_VALUE = _script("set_value")
IS_FILE_INPUT = _script("is_file_input")
WAIT_FOR_TEXT = _script("wait_for_text")
