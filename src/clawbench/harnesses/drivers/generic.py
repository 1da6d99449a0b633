"""Drives a copy of GenericAgent's tree: settings file in, a transcript and a result file out."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

SETTINGS = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
# The tree reads its own arguments when it is imported.
sys.argv = ["agentmain.py"]
sys.path.insert(0, SETTINGS["tree"])

import agentmain  # noqa: E402
import ga  # noqa: E402
import llmcore  # noqa: E402

returned: dict[str, Any] = {}
usage: list[Any] = []


class Handler(agentmain.GenericAgentHandler):  # type: ignore[misc]
    """Works in the repository, without the banned tools and with the shell's time limit."""

    def __init__(self, parent: Any, history: Any = None, _cwd: str = "") -> None:
        super().__init__(parent, history, SETTINGS["project"])

    def dispatch(self, tool_name: str, args: Any, *rest: Any, **named: Any) -> Any:
        banned = tool_name in SETTINGS["banned"]
        name = f"{tool_name} (not available)" if banned else tool_name
        return (yield from super().dispatch(name, args, *rest, **named))

    def do_code_run(self, args: dict[str, Any], response: Any) -> Any:
        limit = SETTINGS["timeout"]
        asked = args.get("timeout")
        args["timeout"] = min(asked, limit) if isinstance(asked, int) else limit
        return (yield from super().do_code_run(args, response))


def narrow() -> None:
    agentmain.BANNED_TOOLS[:] = SETTINGS["banned"]
    agentmain.load_tool_schema()
    agentmain.GenericAgentHandler = Handler
    agentmain.agent_runner_loop = _limited(agentmain.agent_runner_loop)
    llmcore._record_usage = _counted(llmcore._record_usage)
    ga.code_run = _apart(ga.code_run)


def _limited(loop: Any) -> Any:
    def limited(*words: Any, **named: Any) -> Any:
        if SETTINGS["max_turns"]:
            named["max_turns"] = SETTINGS["max_turns"]
        returned["end"] = yield from loop(*words, **named)
        return returned["end"]

    return limited


def _counted(record: Any) -> Any:
    def counted(reported: Any, mode: str) -> Any:
        if reported:
            usage.append(reported)
        return record(reported, mode)

    return counted


def _apart(run: Any) -> Any:
    """Scripts are put beside the repository, and find its modules all the same."""

    def apart(code: str, code_type: str, timeout: int, cwd: str, **named: Any) -> Any:
        named["code_cwd"] = SETTINGS["scratch"]
        before = os.environ.get("PYTHONPATH")
        if code_type in ("python", "py"):
            os.environ["PYTHONPATH"] = SETTINGS["project"]
        try:
            return (yield from run(code, code_type, timeout, cwd, **named))
        finally:
            os.environ.pop("PYTHONPATH", None)
            if before is not None:
                os.environ["PYTHONPATH"] = before

    return apart


def drive() -> None:
    narrow()
    agent = agentmain.GenericAgent()
    agent.peer_hint = False
    threading.Thread(target=agent.run, daemon=True).start()
    said = agent.put_task(Path(SETTINGS["prompt"]).read_bytes().decode(), source="func")
    while "done" not in (item := said.get()):
        pass
    history = agent.llmclient.backend.history
    result = {
        "end": returned.get("end"),
        "turns": item.get("turn"),
        "answer": (item.get("outputs") or [""])[-1],
        "usage": usage,
    }
    record = Path(SETTINGS["record"])
    lines = "".join(json.dumps(message, default=str) + "\n" for message in history)
    (record / "messages.jsonl").write_text(lines, encoding="utf-8")
    (record / "result.json").write_text(json.dumps(result, default=str), encoding="utf-8")


if __name__ == "__main__":
    drive()
