"""The check of a web agent's shell commands that `read_only_shell.js` makes: a list of allowed commands alone
would let `sort -o FILE` through."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.runtimes import Runtime
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS
from clawbench.sandbox import Mount

READ_ONLY_SHELL = Path(__file__).with_suffix(".js")
_PLACE = "/opt/read_only_shell.js"


def mount_check(context: RunContext) -> str:
    """Show it to the sandbox, which cannot change it; `require` gives `refusal(command, allowed)`: the
    reason, or null."""
    context.sandbox.mount(Mount(READ_ONLY_SHELL, _PLACE))
    return context.sandbox.inside(_PLACE)


def check_command(context: RunContext, runtime: Runtime) -> list[str]:
    """The program that takes `{"tool_input": {"command": …}}` and ends with 2 to refuse it."""
    return [runtime.node, mount_check(context), *READ_ONLY_COMMANDS]


def check_hooks(context: RunContext, runtime: Runtime, tools: str) -> dict[str, Any]:
    """The settings of a harness that asks a hook before a tool is used: `tools` is a pattern of their names.
    Only 2 refuses there, so a check that does not even start has to end with it."""
    command = f"{shlex.join(check_command(context, runtime))} || exit 2"
    hook = {"type": "command", "command": command, "timeout": 30}
    return {"hooks": {"PreToolUse": [{"matcher": tools, "hooks": [hook]}]}}
