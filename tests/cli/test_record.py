"""`clawbench record` as a person uses it: in one terminal the command, beside it a browser of their own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from clawbench.cli.record import record as record_command
from clawbench.errors import InputError
from clawbench.results import RunRecord
from tests.environments.browser.extension.display import running_display
from tests.environments.browser.extension.person import serving, somebody, until

SHOP = """<!doctype html><title>Shop</title>
<form id=order method=post action=/order><input id=tea name=tea><button id=buy>Buy</button></form>"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    directory = tmp_path / "tasks" / "001-shop"
    directory.mkdir(parents=True)
    description = {
        "instruction": "Order some oolong.",
        "time_limit": 5,
        "eval_schema": {"url_pattern": "/order$", "method": "POST"},
        "expect": [{"path": "body.tea", "op": "equals", "value": "oo"}],
    }
    (directory / "task.json").write_text(json.dumps(description))
    return directory


class Recording:
    """The running command."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""

    async def says(self, pattern: str) -> str:
        """Wait until it has said so; returns the pattern's first group, or all of it."""
        assert self.process.stderr is not None
        while (found := re.search(pattern, self.said)) is None:
            line = await asyncio.wait_for(self.process.stderr.readline(), 30)
            assert line, self.said
            self.said += line.decode()
        return found[found.lastindex or 0]

    async def ended(self) -> tuple[int, Path, RunRecord]:
        out, err = await asyncio.wait_for(self.process.communicate(), 30)
        assert out, self.said + err.decode()
        shown = json.loads(out)
        directory = Path(shown.pop("directory"))
        record = RunRecord.model_validate_json((directory / "run.json").read_bytes())
        assert record == RunRecord.model_validate(shown)
        assert self.process.returncode is not None
        return self.process.returncode, directory, record


@asynccontextmanager
async def record(output: Path, *arguments: str, **environment: str) -> AsyncIterator[Recording]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clawbench", "record", *arguments, "--output", str(output), "--json"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "CLAWBENCH_CACHE": str(output / "cache"), **environment},
    )
    try:
        yield Recording(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.anyio
async def test_a_person_records_a_task_twice_in_one_browser(task: Path, tmp_path: Path) -> None:
    with serving() as site, socket.create_server(("127.0.0.1", 0)) as taken:
        site.pages["/"] = SHOP
        port = str(taken.getsockname()[1])
        async with somebody(tmp_path) as person:
            async with record(tmp_path / "runs", str(task), "--port", port, "--time-limit", "0.02") as slow:
                address = await slow.says(r"(http://127\.0\.0\.1:\d+/pair#\S+)")
                assert f":{port}/" not in address
                await person.open(address)
                timed_out = await slow.ended()
                await person.shows("#state", "The recording has ended")
            async with record(tmp_path / "runs", str(task)) as quick:
                address = await quick.says(r"(http://127\.0\.0\.1:\d+/pair#\S+)")
                await person.open(address)
                await quick.says("paired: recording")
                await person.open(site.url("/"), new_tab=True)
                await person.click("#tea")
                await person.type("oo")
                await person.click("#buy")
                passed = await quick.ended()
    check_timed_out(*timed_out)
    check_passed(*passed)
    assert site.got("POST", "/order") == []
    token = address.partition("#")[2]
    assert not [
        path for path in passed[1].rglob("*") if path.is_file() and token.encode() in path.read_bytes()
    ]


def check_timed_out(code: int, directory: Path, record: RunRecord) -> None:
    assert (code, record.stop_reason, record.verdict) == (0, "time_limit", "fail")
    found = json.loads((directory / "data/interception.json").read_text())
    assert (found["intercepted"], found["stop_reason"]) == (False, "time_limit")


def check_passed(code: int, directory: Path, record: RunRecord) -> None:
    assert (code, record.stop_reason, record.verdict, record.error) == (0, "intercepted", "pass", None)
    assert (record.harness.name, record.model.name) == ("human", "human")
    assert (record.sandbox, record.isolation, record.kind) == ("none", "none", "web")
    assert list(record.phases) == ["preparing", "running", "stopping", "scoring", "done"]
    assert record.actions == len((directory / "data/actions.jsonl").read_text().splitlines()) == 11
    assert record.requests == len((directory / "data/requests.jsonl").read_text().splitlines())
    assert record.screenshots == 11
    assert "Order some oolong." in (directory / "prompt.txt").read_text()
    assert json.loads((directory / "eval-schema.json").read_text())["url_pattern"] == "/order$"
    assert "data/recording.mp4" not in record.files


@pytest.mark.anyio
async def test_ctrl_c_while_waiting_for_the_extension_leaves_a_record(task: Path, tmp_path: Path) -> None:
    async with record(tmp_path / "runs", str(task)) as waiting:
        await waiting.says("pair#")
        extension = Path(await waiting.says(r"“Load unpacked”, (\S+)"))
        assert (extension / "manifest.json").is_file()
        waiting.process.send_signal(signal.SIGINT)
        code, directory, run = await waiting.ended()
    assert (code, run.state, run.stop_reason, run.verdict) == (130, "done", "cancelled", "unjudged")
    assert json.loads((directory / "data/interception.json").read_text())["intercepted"] is False


@pytest.mark.anyio
async def test_launch_opens_a_browser_that_is_paired_and_closes_it_at_the_end(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed")
    with running_display() as display:
        arguments = ("demo/002-shopping-order-teahouse", "--launch")
        async with record(tmp_path / "runs", *arguments, DISPLAY=display) as launched:
            url = await launched.says(r"Recorder API: (\S+),")
            token = await launched.says(r"Bearer ([^`]+)`")
            await launched.says("paired: recording")
            browsers = started_with(launched.process.pid)
            assert browsers
            assert not [command for command in browsers.values() if token in command]
            async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as tool:
                assert (await tool.post(f"{url}/api/stop", json={})).status_code == 202
            code, _, run = await launched.ended()
        await until(lambda: not [pid for pid in browsers if os.path.exists(f"/proc/{pid}")])
    assert (code, run.stop_reason, run.verdict) == (0, "agent_exited", "fail")


def started_with(pid: int) -> dict[int, str]:
    """The Chromium processes below `pid`, and how each was started."""
    found: dict[int, str] = {}
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if "--user-data-dir" in command:
                found[int(entry.name)] = command
    return {child: command for child, command in found.items() if pid in ancestors(child, parents)}


def ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while (pid := parents.get(pid, 0)) and pid not in found:
        found.add(pid)
    return found


def test_what_cannot_be_recorded_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    runs = tmp_path / "runs"
    with pytest.raises(InputError, match="is a coding task"):
        record_command("demo/001-coding-bugfix-strata", output=runs)
    with pytest.raises(InputError, match=r"bundled site \(teahouse\).*--launch"):
        record_command("demo/002-shopping-order-teahouse", output=runs)
    with pytest.raises(InputError, match="needs a screen"):
        record_command("demo/002-shopping-order-teahouse", output=runs, launch=True)
    assert not runs.exists()
