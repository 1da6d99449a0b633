"""`clawbench run --browser-cdp` as a user gives it, from the command to the record."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.remote import parse_endpoint
from clawbench.environments.browser.vnc import ViewSettings
from clawbench.errors import InputError
from clawbench.harnesses.null import NullHarness
from clawbench.models import absent_model
from clawbench.runner import RunSpec
from clawbench.tasks import find_task
from tests.environments.browser.remote.elsewhere import Elsewhere
from tests.environments.browser.remote.provider import TOKEN, provide
from tests.environments.browser.remote.site import Site

POLICY = """
description: Applies for something with a résumé.
rules:
  - when: {{turn: 0}}
    calls: [{{tool: browser_open, arguments: {{url: "{url}"}}}}]
  - when: {{last: '(?s)url: \\S+/apply.*^\\[(?P<field>\\d+)\\] textbox "Name'}}
    calls: [{{tool: browser_type, arguments: {{element: "${{field:int}}", text: Alex Green}}}}]
  - when:
      last: '^typed into'
      conversation: '^\\[(?P<file>\\d+)\\] file'
    calls:
      - tool: browser_upload
        arguments: {{element: "${{file:int}}", path: /my-info/alex_green_resume.pdf}}
  - when:
      last: 'alex_green_resume.pdf'
      conversation: '^\\[(?P<send>\\d+)\\] button "Send"'
    calls: [{{tool: browser_click, arguments: {{element: "${{send:int}}"}}}}]
"""


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


async def clawbench(*arguments: str, **environment: str) -> Finished:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clawbench", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    out, err = await asyncio.wait_for(process.communicate(), 120)
    return Finished(process.returncode or 0, out.decode(), err.decode())


def write_task(base: Path, **changes: Any) -> str:
    directory = base / "suite" / "task"
    directory.mkdir(parents=True)
    task = {
        "instruction": "Apply with my résumé.",
        "eval_schema": {"url_pattern": "/order$", "method": "POST"},
        "time_limit": 2,
        "expect": [
            {"path": "body.name", "op": "equals", "value": "Alex Green"},
            {"path": "body.resume.filename", "op": "equals", "value": "alex_green_resume.pdf"},
        ],
    }
    (directory / "task.json").write_text(json.dumps(task | changes))
    return str(directory)


def write_policy(base: Path, url: str) -> str:
    file = base / "policy.yaml"
    file.write_text(POLICY.format(url=url))
    return f"scripted:{file}"


@pytest.mark.anyio
async def test_a_task_is_solved_in_a_browser_elsewhere(
    elsewhere: Elsewhere, site: Site, tmp_path: Path
) -> None:
    arguments = ["run", write_task(tmp_path), "--model", write_policy(tmp_path, site.url("/apply"))]
    async with provide(await elsewhere.websocket()) as provider:
        done = await clawbench(
            *(*arguments, "--output", str(tmp_path / "runs"), "--browser-cdp", "${PROVIDER}"),
            PROVIDER=provider.url(),
        )
        assert provider.connections == 1
    assert done.code == 0, done.err
    (file,) = (tmp_path / "runs").rglob("run.json")
    record = json.loads(file.read_text())
    assert (record["verdict"], record["stop_reason"]) == ("pass", "intercepted"), record
    assert record["isolation"] == "partial"
    assert any("elsewhere: Chrome/" in notice for notice in record["notices"])
    assert any("Isolation is partial" in notice for notice in record["notices"])
    assert "isolation: partial" in done.out
    assert site.got("/order") == 0
    size = json.loads((file.parent / "data/interception.json").read_text())["request"]["body"]["resume"][
        "size"
    ]
    assert size > 500, "the file's content went along"
    assert len(await elsewhere.pages()) == 1
    found = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert {"recording.mp4", "actions.jsonl", "requests.jsonl"} <= {path.name for path in found}
    assert not [path for path in found if TOKEN.encode() in path.read_bytes()]
    assert TOKEN not in done.out + done.err


@pytest.mark.anyio
async def test_a_browser_that_lets_nobody_in_is_named_before_anything_starts(
    elsewhere: Elsewhere, site: Site, tmp_path: Path
) -> None:
    policy = write_policy(tmp_path, site.url("/apply"))
    async with provide(await elsewhere.websocket()) as provider:
        done = await clawbench(
            *("run", write_task(tmp_path), "--model", policy, "--output", str(tmp_path / "runs")),
            CLAWBENCH_BROWSER_CDP=provider.url("http", token="spent-token-of-yesterday"),
        )
    assert done.code == 2, done
    assert (
        f"--browser-cdp: http://127.0.0.1:{provider.port} refuses with HTTP 403. Check the token" in done.err
    )
    assert "spent-token" not in done.err
    assert not list((tmp_path / "runs").rglob("run.json"))


def spec(tmp_path: Path, task: str, **more: Any) -> RunSpec:
    endpoint = parse_endpoint("http://127.0.0.1:9", {})
    fields = {"output": tmp_path, "batch": "b", "browser_cdp": endpoint, **more}
    return RunSpec(task=find_task(task), model=absent_model("none"), harness=NullHarness(), **fields)


def test_what_a_browser_elsewhere_cannot_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--browser-cdp: this task's site \(teahouse\) is bundled"):
        spec(tmp_path, "demo/002-shopping-order-teahouse")
    with pytest.raises(InputError, match="--browser-cdp: a coding task has no browser"):
        spec(tmp_path, "demo/001-coding-bugfix-strata")
    with pytest.raises(InputError, match="--browser-cdp: the screen"):
        spec(tmp_path, write_task(tmp_path), view=ViewSettings("watch", "127.0.0.1", 6080))
