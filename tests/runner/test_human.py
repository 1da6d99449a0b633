"""A person drives a whole run: `clawbench run --human`, opened and left with a browser of their own."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clawbench.doctor import find_novnc
from clawbench.environments.browser.vnc import ViewSettings
from clawbench.harnesses.human import HUMAN, HumanHarness
from clawbench.models import absent_model
from clawbench.results import StopReason, read_json_lines
from clawbench.runner import Progress, RunSpec, open_host, run_task
from clawbench.tasks import find_task
from tests.environments.browser.vnc.person import CONTROL, person
from tests.environments.browser.vnc.recorded import Recorded

pytestmark = pytest.mark.anyio

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
NEEDED = ("Xvfb", "ffmpeg", "bwrap", "x11vnc")
TASK = {
    "instruction": "Put the decaffeinated Earl Grey into the basket at http://teahouse.example/.",
    "site": "teahouse",
    "time_limit": 5,
    "eval_schema": {"url_pattern": "/api/basket$", "method": "POST"},
    "expect": [{"path": "body.product", "op": "equals", "value": "earl-grey-decaf"}],
}
URL = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or find_novnc() is None or not BROWSER:
        pytest.skip(f"not installed: {', '.join(missing) or 'novnc or Chromium'}")
    directory = tmp_path / "suite" / "001-basket"
    directory.mkdir(parents=True)
    (directory / "task.json").write_text(json.dumps(TASK))
    return directory


async def test_a_person_does_the_task_and_the_request_is_intercepted(
    task: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scratch = tmp_path_factory.mktemp("t")  # short, as unix sockets lie below it
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clawbench", "run", str(task), "--human", "--json"),
        *("--output", str(tmp_path / "runs")),
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120), ended(process), person(BROWSER, tmp_path / "profile") as somebody:
        page = await somebody.open(await printed_url(process))
        await page.connected()
        assert "Earl Grey" in await page.run("document.querySelector('#instruction').textContent")
        assert "Alex Green" in await page.run("document.querySelector('#files').textContent")
        (relay,) = scratch.glob("clawbench-*/*/cdp.sock")
        await page.press("l", CONTROL)
        await page.type("http://teahouse.example/products/earl-grey-decaf")
        await page.press("Enter")
        await page.click(*await Recorded(relay).where("form button, main button", "/products/"))
        await page.until("document.querySelector('#detail').textContent.includes('close this page')", 40)
        assert await page.run("document.querySelector('#headline').textContent") == (
            "Recorded: request intercepted"
        )
        assert "Verdict: pass" in await page.run("document.querySelector('#detail').textContent")
        stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    check_record(json.loads(stdout))
    assert list(scratch.iterdir()) == []


@asynccontextmanager
async def ended(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    """Leave no run behind, should a test fail in the middle of it."""
    try:
        yield
    finally:
        if process.returncode is None:
            process.terminate()
            await process.communicate()


async def printed_url(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if found := URL.search(line.decode()):
            return found[0]
    raise AssertionError("no address was printed")


def check_record(record: dict[str, Any]) -> None:
    assert (record["harness"]["name"], record["model"]["name"]) == ("human", "human")
    assert record["stop_reason"] == "intercepted"
    assert record["verdict"] == "pass"
    assert record["cost_usd"] is None
    assert record["usage"]["measured"]["calls"] == 0
    directory = Path(record["directory"])
    actions = list(read_json_lines(directory / "data/actions.jsonl"))
    assert any(a["type"] == "click" and a["target"]["tagName"].lower() == "button" for a in actions)
    assert (directory / "data/recording.mp4").stat().st_size > 10_000
    everything = b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())
    assert b"token=" not in everything


async def test_leaving_ends_the_run_and_coming_back_in_time_does_not(task: Path, tmp_path: Path) -> None:
    grace_s = 3.0
    told: asyncio.Queue[str] = asyncio.Queue()
    progress = Progress("human", tell=told.put_nowait)
    spec = RunSpec(
        task=find_task(str(task)),
        model=absent_model(HUMAN),
        harness=HumanHarness(),
        output=tmp_path / "runs",
        batch="b",
        idle_s=math.inf,
        view=ViewSettings("control", port=0, grace_s=grace_s),
    )
    async with asyncio.timeout(120), open_host() as host, person(BROWSER, tmp_path / "profile") as somebody:
        running = asyncio.create_task(run_task(host, spec, progress))
        url = URL.search(await told.get())
        assert url is not None
        page = await somebody.open(url[0])
        await page.connected()
        await page.close()
        await asyncio.sleep(grace_s / 3)
        page = await somebody.open(url[0])  # the cookie of the first time lets it in
        await page.connected()
        await asyncio.sleep(grace_s)
        assert not running.done(), "somebody is here"
        loop = asyncio.get_running_loop()
        await page.close()
        left_at = loop.time()
        _, record = await running
        assert loop.time() - left_at >= grace_s - 0.1
    assert record.stop_reason is StopReason.HUMAN_LEFT
    assert record.error is None
    assert "did not come back within 3 s" in record.stop_description
    assert record.verdict is not None
    assert record.verdict.value == "fail"
