"""`clawbench run --api`: an outside tool ends a run that an agent is in the middle of."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from clawbench.cli.run import run
from clawbench.errors import InputError
from clawbench.results import RunRecord

NEEDED = ("chromium", "Xvfb", "ffmpeg", "bwrap")


def test_an_outside_tool_ends_a_run_through_the_api(tmp_path: Path) -> None:
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    arguments = ("demo/002-shopping-order-teahouse", "--model", "scripted:solve", "--api", "--json")
    with subprocess.Popen(
        [sys.executable, "-m", "clawbench", "run", *arguments, "--output", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        assert process.stderr is not None
        told = next(found for line in process.stderr if (found := re.search(r"API: (\S+), .* (\S+)`", line)))
        url, token = told.groups()
        allowed = {"Authorization": f"Bearer {token}"}
        answer = httpx.post(f"{url}/api/stop", json={"description": "seen enough"}, headers=allowed)
        assert answer.status_code == 202
        out, _ = process.communicate(timeout=60)
    record = json.loads(out)
    directory = Path(record.pop("directory"))
    ended = RunRecord.model_validate(record)
    assert (process.returncode, ended.stop_reason, ended.verdict) == (130, "cancelled", "unjudged")
    assert ended.stop_description == "Stopped through the recorder API: seen enough"
    written = [path for path in directory.rglob("*") if path.is_file()]
    assert not [path for path in written if token.encode() in path.read_bytes()]


def test_a_coding_task_has_no_recorder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--api: a coding task has no recorder"):
        run("demo/001-coding-bugfix-strata", model="scripted:solve", api=True, output=tmp_path)
