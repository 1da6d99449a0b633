"""How the ends and claims of Python harnesses are read, without their programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.harnesses.browser_use import BrowserUseHarness
from clawbench.harnesses.evidence import finish_of
from clawbench.harnesses.generic import GenericHarness
from clawbench.harnesses.hermes import HermesHarness
from clawbench.harnesses.leftovers import Leftovers
from clawbench.harnesses.mini_swe_agent import MiniSweAgentHarness
from clawbench.harnesses.nanobot import NanobotHarness
from clawbench.harnesses.program import ProgramHarness
from clawbench.harnesses.thinking import anthropic_budget
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import FinishReason, Usage
from clawbench.sandbox import Ended

CHAT = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}


def left(home: Path, files: dict[str, Any], stdout: str = "") -> Leftovers:
    for name, content in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    (home / "out").write_text(stdout)
    (home / "err").write_text("")
    return Leftovers(home, home / "out", home / "err", Ended(exit_code=0))


def finish(harness: ProgramHarness, leftovers: Leftovers) -> FinishReason:
    return finish_of(harness.examine(leftovers), Ended(exit_code=0)).finish_reason


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("completed", FinishReason.STOP),
        ("max_iterations", FinishReason.TIMEOUT),
        ("error", FinishReason.ERROR),
        ("something new", FinishReason.ERROR),
    ],
)
def test_nanobot_ends_with_0_whatever_happened(reason: str, expected: FinishReason, tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "cache_read_tokens": 40, "output_tokens": 7, "request_count": 2}
    result = {"content": "done", "tools_used": ["exec"], "stop_reason": reason, "usage": usage}
    line = json.dumps({"type": "run.completed", "result": result})
    leftovers = left(tmp_path, {}, f"noise\n{line}\n")
    assert finish(NanobotHarness(), leftovers) is expected
    assert NanobotHarness().examine(leftovers).usage == Usage(input=60, cache_read=40, output=7)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"completed": True, "turn_exit_reason": "text_response(finish_reason=stop)"}, FinishReason.STOP),
        ({"completed": False, "turn_exit_reason": "max_iterations_reached(4/4)"}, FinishReason.TIMEOUT),
        ({"failed": True, "error": "HTTP 500"}, FinishReason.ERROR),
        ({"turn_exit_reason": "interrupted_by_user"}, FinishReason.ERROR),
    ],
)
def test_hermes_by_why_its_conversation_ended(
    result: dict[str, Any], expected: FinishReason, tmp_path: Path
) -> None:
    told = {"final_response": "done", **result}
    assert finish(HermesHarness(), left(tmp_path, {".hermes/result.json": told})) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Submitted", FinishReason.STOP),
        ("LimitsExceeded", FinishReason.TIMEOUT),
        ("RateLimitError", FinishReason.ERROR),
        ("", FinishReason.ERROR),
    ],
)
def test_mini_swe_agent_by_its_exit_status(status: str, expected: FinishReason, tmp_path: Path) -> None:
    message = {"role": "assistant", "extra": {"actions": [{}], "response": {"usage": CHAT}}}
    trajectory = {"info": {"exit_status": status}, "messages": [message, "forged", {"extra": 3}]}
    leftovers = left(tmp_path, {"trajectory.json": trajectory})
    assert finish(MiniSweAgentHarness(), leftovers) is expected
    assert MiniSweAgentHarness().examine(leftovers).usage == Usage(input=60, cache_read=40, output=7)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"done": True, "success": False, "answer": "I gave up"}, FinishReason.STOP),
        ({"done": False, "errors": ["Failed to complete task in maximum steps"]}, FinishReason.TIMEOUT),
        ({"done": False, "errors": ["Connection error."]}, FinishReason.ERROR),
    ],
)
def test_browser_use_by_what_it_says_and_not_by_its_success(
    result: dict[str, Any], expected: FinishReason, tmp_path: Path
) -> None:
    line = json.dumps({"type": "result", "actions": ["click"], **result})
    assert finish(BrowserUseHarness(), left(tmp_path, {}, line)) is expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"end": {"result": "CURRENT_TASK_DONE"}, "answer": "done"}, FinishReason.STOP),
        ({"end": {"result": "MAX_TURNS_EXCEEDED"}, "answer": "ls"}, FinishReason.TIMEOUT),
        ({"end": {"result": "CURRENT_TASK_DONE"}, "answer": "!!!Error: HTTP 500"}, FinishReason.ERROR),
        ({"end": {"result": "X"}, "answer": "!!!Error: ConnectionError: empty response"}, FinishReason.EMPTY),
        ({"end": None, "answer": ""}, FinishReason.ERROR),
    ],
)
def test_generic_by_its_loop_and_its_text(
    result: dict[str, Any], expected: FinishReason, tmp_path: Path
) -> None:
    assert finish(GenericHarness(), left(tmp_path, {".generic/result.json": result})) is expected


def test_generic_counts_the_output_of_streams_at_their_ends(tmp_path: Path) -> None:
    begun = {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1}
    result = {"end": {"result": "CURRENT_TASK_DONE"}, "answer": "done", "usage": [begun, begun]}
    output = "[Output] tokens=7 stop_reason=tool_use\n[Output] tokens=5 stop_reason=end_turn\n"
    told = GenericHarness().examine(left(tmp_path, {".generic/result.json": result}, output))
    assert told.usage == Usage(input=120, cache_read=80, output=12)


@pytest.mark.parametrize(
    "forged", ["[1, 2", '"text"', "[]", '{"usage": 7, "end": [], "info": 1, "messages": 2}']
)
@pytest.mark.parametrize(
    "harness",
    [HermesHarness(), MiniSweAgentHarness(), GenericHarness(), NanobotHarness(), BrowserUseHarness()],
)
def test_forged_leftovers_are_an_error_and_no_crash(
    harness: ProgramHarness, forged: str, tmp_path: Path
) -> None:
    names = (".hermes/result.json", ".generic/result.json", "trajectory.json")
    leftovers = left(tmp_path, dict.fromkeys(names, forged), f"{forged}\n")
    assert finish(harness, leftovers) is FinishReason.ERROR


@pytest.mark.parametrize(
    ("level", "asked", "expected"),
    [
        (ThinkingLevel.HIGH, None, (24_000, 32_192)),
        (ThinkingLevel.HIGH, 8000, (6976, 8000)),
        (ThinkingLevel.MINIMAL, 8000, (1024, 8000)),
    ],
)
def test_thinking_leaves_room_for_an_answer(
    level: ThinkingLevel, asked: int | None, expected: tuple[int, int]
) -> None:
    model = Model(
        name="m",
        base_url="http://127.0.0.1:1",
        api_type=ApiType.ANTHROPIC_MESSAGES,
        thinking_level=level,
        max_tokens=asked,
    )
    assert anthropic_budget(model) == expected
