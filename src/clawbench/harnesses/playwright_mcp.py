"""Playwright's MCP server on the run's browser: for harnesses without browser tools of their own."""

from __future__ import annotations

from collections.abc import Sequence

from clawbench.harnesses.program import browser_url
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.rehearsal import Line, Press
from clawbench.harnesses.runtimes import NODE, NpmPart, Runtime

PLAYWRIGHT_MCP = NpmPart("playwright-mcp", "@playwright/mcp", "0.0.83")
PARTS = (PLAYWRIGHT_MCP, NODE)

CODE_TOOLS = ("browser_evaluate", "browser_run_code_unsafe")
"""They run programs, in the page or beside the browser. The server cannot leave them out: its clients do."""

_OWN = ".pw"
"""In HOME. Its name is short because a socket comes into it, whose path has at most 107 bytes."""
_OPTIONS = (
    # After an action it would write the page into a file and only name that: the model asks for the page.
    *("--snapshot-mode", "none"),
    # Else it uploads nothing from outside its directory, /my-info included; the relay sees to what is read,
    # and Node to what is written.
    "--allow-unrestricted-file-access",
    "--no-webmcp",
)


def server_command(context: RunContext, runtime: Runtime) -> list[str]:
    """The program that an MCP client starts. It writes into a directory of its own and the workspace alone:
    tools write files that the agent names, and others of HOME are settings, or run by shells."""
    program = runtime[PLAYWRIGHT_MCP.name].path("node_modules/@playwright/mcp/cli.js")
    own = f"{context.home}/{_OWN}"
    place = ("--cdp-endpoint", browser_url(context), "--output-dir", own)
    (context.sandbox.home / _OWN).mkdir(exist_ok=True)  # only then does Node allow what comes into it
    writing = [f"--allow-fs-write={path}" for path in (own, context.workspace)]
    node = [runtime.node, "--permission", "--allow-fs-read=*", *writing]
    return ["/usr/bin/env", f"TMPDIR={own}", f"XDG_CACHE_HOME={own}", *node, program, *place, *_OPTIONS]


def presses(press: Press, prefix: str) -> Sequence[Line]:
    """Open a page and press a button, with tools that are called `<prefix>browser_…`."""
    return (
        Line(tool=f"{prefix}browser_navigate", arguments={"url": press.url}),
        Line(tool=f"{prefix}browser_wait_for", arguments={"text": press.label}),
        Line(tool=f"{prefix}browser_snapshot"),
        Line(
            tool=f"{prefix}browser_click",
            arguments={"element": press.label, "target": "${ref}"},
            # Some harnesses hand it on as JSON.
            after=rf'button \\*"{press.label}\\*"[^\n]*?\[ref=(?P<ref>\w+)\]',
        ),
        Line(text="The button is pressed."),
    )
