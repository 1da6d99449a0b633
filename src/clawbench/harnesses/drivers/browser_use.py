"""Drives browser-use as a library: settings file in, JSON lines on stdout, the last of them the result."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from browser_use import Agent, Browser, ChatAnthropic, ChatOpenAI, Tools


async def drive(settings: dict[str, Any]) -> None:
    browser = Browser(cdp_url=settings["cdp_url"], keep_alive=True, enable_default_extensions=False)
    agent = Agent(
        task=Path(settings["prompt"]).read_bytes().decode(),
        llm=_model(settings),
        browser=browser,
        tools=Tools(exclude_actions=settings["exclude"]),
        available_file_paths=_files(Path(settings["files"])),
        file_system_path=settings["scratch"],
        use_judge=False,
        directly_open_url=False,
        final_response_after_failure=False,
        enable_signal_handler=False,
        step_timeout=settings["step_timeout"],
        llm_timeout=settings["step_timeout"],
    )
    history = await agent.run(max_steps=settings["max_steps"], on_step_end=_tell)
    history.save_to_file(settings["history"])
    _say({"type": "result", **_summary(history)})
    await browser.stop()


def _model(settings: dict[str, Any]) -> Any:
    make = ChatAnthropic if settings["provider"] == "anthropic" else ChatOpenAI
    return make(**settings["model"])


def _files(directory: Path) -> list[str]:
    return sorted(str(path) for path in directory.rglob("*") if path.is_file())


def _summary(history: Any) -> dict[str, Any]:
    usage = history.usage
    return {
        "done": history.is_done(),
        "success": history.is_successful(),
        "answer": history.final_result(),
        "steps": history.number_of_steps(),
        "actions": history.action_names(),
        "errors": [error for error in history.errors() if error],
        "usage": usage.model_dump(mode="json") if usage else None,
    }


async def _tell(agent: Any) -> None:
    history = agent.history
    _say(
        {
            "type": "step",
            "number": history.number_of_steps(),
            "url": (history.urls() or [None])[-1],
            "actions": history.action_names()[-5:],
            "error": (history.errors() or [None])[-1],
        }
    )


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line, default=str), flush=True)


if __name__ == "__main__":
    asyncio.run(drive(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
