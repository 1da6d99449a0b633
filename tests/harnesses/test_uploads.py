"""Files of /my-info, given to a page by the browser tools of other people's harnesses."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.harnesses.rehearsal import Line
from clawbench.identity.person import RESUME_FILE
from clawbench.runner.checking.policy import rehearse
from clawbench.runner.checking.tasks import PRESS
from clawbench.sites.doorbell import app
from clawbench.tasks.prompts import MY_INFO

from .live import perform, with_playwright
from .test_every_harness import installed

pytestmark = pytest.mark.harnesses

PAGE = """<!doctype html><meta charset="utf-8"><title>A door</title><link rel="icon" href="data:,">
<input type="file" id="file" aria-label="Resume"><button id="bell">Ring the bell</button><script>
bell.onclick = async () => {
  const [given] = file.files, text = new TextDecoder('latin1').decode(await given.arrayBuffer());
  const body = {door: "front", times: 1, name: given.name, starts: text.slice(0, 5), size: given.size};
  await fetch("/api/rings", {method: "POST", body: JSON.stringify(body)});
};</script>"""
RESUME = f"{MY_INFO}/{RESUME_FILE}"
REF = r'button \\*"Resume\\*"[^\n]*?\[ref=(?P<ref>\w+)\]'


def by_playwright(harness: Any, path: str) -> list[Line]:
    opening, waiting, snapshot, click, end = harness.presses(PRESS)
    prefix = opening.tool.removesuffix("browser_navigate")
    choose = Line(tool=click.tool, arguments={"element": "Resume", "target": "${ref}"}, after=REF)
    upload = Line(tool=f"{prefix}browser_file_upload", arguments={"paths": [path]})
    return [opening, waiting, snapshot, choose, upload, snapshot, click, end]


def by_openclaw(harness: Any, path: str) -> list[Line]:
    opening, snapshot, click, end = harness.presses(PRESS)
    upload = Line(tool="browser", arguments={"action": "upload", "ref": "${ref}", "paths": [path]}, after=REF)
    return [opening, snapshot, upload, snapshot, click, end]


@pytest.mark.parametrize("name", ["openclaw", *with_playwright()])
def test_the_resume_reaches_the_page(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = body(name, RESUME, tmp_path, monkeypatch)
    assert sent is not None
    assert (sent["name"], sent["starts"]) == (RESUME_FILE, "%PDF-")
    assert sent["size"] > 1000


def test_openclaw_gives_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert body("openclaw", "/etc/passwd", tmp_path, monkeypatch) is None


def body(name: str, path: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any] | None:
    """What the page sent after the file was given to it."""
    harness, page = installed(name), directory / "page.html"
    page.write_text(PAGE)
    monkeypatch.setattr(app, "PAGE", page)
    lines = (by_openclaw if name == "openclaw" else by_playwright)(harness, path)
    made = asyncio.run(perform(harness, "web", rehearse(lines), directory))
    found: dict[str, Any] = json.loads(made.directory.interception.read_text())
    return found["request"]["body"] if found["intercepted"] else None
