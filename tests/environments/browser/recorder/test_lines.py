"""Lines on a disk that is full, as the kernel reports it."""

from __future__ import annotations

import resource
from pathlib import Path

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
