"""Drives hermes by its own command line, and keeps what its conversation returned."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import hermes_cli.main
from run_agent import AIAgent


def drive(settings: dict[str, Any]) -> None:
    converse = AIAgent.run_conversation

    def watched(agent: Any, *words: Any, **named: Any) -> Any:
        _deny(agent, settings["denied"])
        result = converse(agent, *words, **named)
        if isinstance(result, dict):
            _keep(result, Path(settings["record"]))
        return result

    AIAgent.run_conversation = watched
    prompt = Path(settings["prompt"]).read_bytes().decode()
    # Set here: an argument of the process has a limit of length, and everybody sees it.
    sys.argv = ["hermes", "chat", *settings["options"], f"--query={prompt}"]
    hermes_cli.main.main()


def _deny(agent: Any, names: list[str]) -> None:
    agent.tools = [tool for tool in agent.tools or [] if tool["function"]["name"] not in names]
    agent.valid_tool_names -= set(names)
    # It would look for new tools of MCP servers now, and take back what is denied.
    agent._skip_mcp_refresh = True


def _keep(result: dict[str, Any], record: Path) -> None:
    messages = result.pop("messages", None) or []
    lines = [json.dumps(message, default=str) for message in messages]
    (record / "messages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (record / "result.json").write_text(json.dumps(result, default=str), encoding="utf-8")
    result["messages"] = messages


if __name__ == "__main__":
    drive(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
