"""Playwright's MCP server is started by a Node that keeps it from writing where the agent has no business."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from clawbench.errors import MissingPartError
from clawbench.harnesses import CDP
from clawbench.harnesses.playwright_mcp import PLAYWRIGHT_MCP, server_command
from clawbench.harnesses.runtimes import NODE, InstalledPart, Runtime, find_runtime
from clawbench.places import cache_directory

from .stage import run_context

WRITES = """
const tried = {}, fs = require('fs');
for (const path of JSON.parse(process.env.PATHS)) {
  try { fs.writeFileSync(path, ''); tried[path] = 'written'; } catch (error) { tried[path] = error.code; }
}
tried.temporary = fs.mkdtempSync(require('os').tmpdir() + '/playwright-artifacts-');
console.log(JSON.stringify(tried));
"""
OUT_OF_REACH = (".bash_profile", ".claude/shell-snapshots/x.sh", ".codex/hooks.json", ".pw/../x")


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """The real Node, and a program that tries to write in the server's place."""
    try:
        node = find_runtime("any", [NODE], cache_directory())[NODE.name]
    except MissingPartError as error:
        pytest.skip(str(error))
    program = tmp_path / "server" / "node_modules/@playwright/mcp/cli.js"
    program.parent.mkdir(parents=True)
    program.write_text(WRITES)
    server = InstalledPart(tmp_path / "server", PLAYWRIGHT_MCP.version, "")
    return Runtime({NODE.name: node, PLAYWRIGHT_MCP.name: server})


async def test_it_writes_into_its_own_directory_and_the_workspace_alone(
    runtime: Runtime, tmp_path: Path
) -> None:
    async with run_context(tmp_path, "web", {CDP: tmp_path / "cdp"}, provider="none") as context:
        home, workspace = context.sandbox.home, Path(context.workspace)
        refused = [f"{home}/{name}" for name in OUT_OF_REACH]
        written = [f"{home}/.pw/page.yml", f"{workspace}/page.yml"]
        for path in map(Path, refused):
            path.parent.mkdir(parents=True, exist_ok=True)
        env = {"PATHS": json.dumps([*refused, *written])}
        ended = await anyio.run_process(server_command(context, runtime), env=env)
        tried = json.loads(ended.stdout)
        assert Path(tried.pop("temporary")).parent == home / ".pw"
    assert tried == {**dict.fromkeys(refused, "ERR_ACCESS_DENIED"), **dict.fromkeys(written, "written")}
