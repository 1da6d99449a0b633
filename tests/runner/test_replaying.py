"""What a recorded run's directory says about its record."""

from __future__ import annotations

import json
from pathlib import Path

from clawbench.harnesses import get_harness
from clawbench.runner import original_task, read_original, recorded_model
from clawbench.runner.replay import changes_since
from tests.cli.test_replay import made

CALL = {"id": "call-00001", "path": "/chat/completions", "request": {}, "status": 200}
COUNTING = {"id": "call-00002", "path": "/x", "request": {}, "status": 200, "operation": "count_tokens"}


def test_a_record_that_lost_lines_is_said_to_lack_them(tmp_path: Path) -> None:
    lines = "".join(json.dumps(line) + "\n" for line in (CALL, COUNTING))
    usage = {"measured": {"calls": 3}}
    original = read_original(made(tmp_path, lines, usage=usage))
    changes = changes_since(
        original, original_task(original), get_harness("reference"), recorded_model(original)
    )
    assert "The record lacks 2 of 3 model calls" in changes
    assert original.missing == 2
