"""Drives nanobot by its SDK: settings file in, JSON lines on stdout, the last of them the result."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from nanobot import Nanobot
from nanobot.agent.tools.base import ToolResult

_PIECES = ("text.delta", "reasoning.delta")


async def drive(settings: dict[str, Any]) -> None:
    bot = Nanobot.from_config(settings["config"], workspace=settings["state"])
    _narrow(bot._loop, settings)
    if bot._mcp_provider is not None:
        await bot._mcp_provider.connect()
    for name in settings["denied"]:
        bot._loop.tools.unregister(name)
    if settings["check"]:
        _check_commands(bot._loop.tools.get("exec"), settings["check"])
    prompt = Path(settings["prompt"]).read_bytes().decode()
    async with bot:
        try:
            async for event in bot.stream(prompt, session_key="clawbench:run"):
                if event.type not in _PIECES:
                    _say(_told(event))
        except Exception as error:
            _say({"type": "run.failed", "error": str(error)})


def _narrow(loop: Any, settings: dict[str, Any]) -> None:
    """Work in the repository while nanobot's own files stay elsewhere, with the allowed tools alone."""
    loop.workspace_scopes = dataclasses.replace(loop.workspace_scopes, default_workspace=settings["project"])
    for name in list(loop.tools.tool_names):
        if name not in settings["tools"]:
            loop.tools.unregister(name)


def _check_commands(shell: Any, check: list[str]) -> None:
    """Its patterns know commands by how they look, not by their words. Which shell it is, and whether that
    runs files of HOME first, the model does not choose."""
    execute = shell.execute

    async def only_reading(
        command: str | None = None, cmd: str | None = None, login: Any = None, shell: Any = None, **more: Any
    ) -> Any:
        asked = json.dumps({"tool_input": {"command": command or cmd}}).encode()
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*check, stdin=pipe, stderr=pipe)
        _, reason = await process.communicate(asked)
        if process.returncode != 0:
            return ToolResult.error(reason.decode(errors="replace"))
        return await execute(command=command or cmd, **more)

    shell.execute = only_reading


def _told(event: Any) -> dict[str, Any]:
    told = {
        name: value for name, value in dataclasses.asdict(event).items() if value not in (None, "", {}, [])
    }
    if isinstance(told.get("result"), dict):
        told["result"].pop("messages", None)
    return told


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line, default=str), flush=True)


if __name__ == "__main__":
    asyncio.run(drive(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
