"""What a killed gateway left of its calls, brought to an account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.gateway.cut_off import account_for_cut_off_calls
from clawbench.gateway.open_call import OpenCall
from clawbench.results import Price, RunDirectory, read_llm_calls

PRICE = Price(
    input=2,
    output=10,
    service_tiers={"flex": Price(input=1, output=5)},
    long_prompts={1000: Price(input=4, output=20)},
)
DONE: dict[str, Any] = {
    "id": "call-00001",
    "path": "/chat/completions",
    "request": {"messages": []},
    "status": 200,
    "usage": {"input": 10, "output": 1},
    "cost_usd": 0.00003,
    "error": None,
    "aborted": False,
    "retry": True,
    "unpriced": {"code_interpreter": 2},
}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = RunDirectory.create(tmp_path, batch="b", suite="s", task="t", harness="h", model="m")
    made.llm_calls.write_text(json.dumps(DONE) + "\n")
    return made


def leave(
    run: RunDirectory, number: int, answer: bytes, path: str = "/chat/completions", **notes: Any
) -> None:
    """A call that was under way: its process has ended without a word."""
    request = {"messages": [{"role": "user", "content": "hello"}]}
    head = {"id": f"call-{number:05d}", "started": 1.0, "path": path, "request": request, "set": {}}
    call = OpenCall(run.open_calls, {**head, "retry": bool(notes.pop("retry", False))})
    call.begin_answer({"status": 200, "streamed": False, "headers": [], "notes": notes})
    call.write(answer)


def whole(prompt: int, completion: int, **more: Any) -> bytes:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return json.dumps({"choices": [], "usage": usage, **more}).encode()


def test_each_call_at_its_price(run: RunDirectory) -> None:
    leave(run, 2, whole(100, 10))
    leave(run, 3, whole(100, 10, service_tier="flex"), retry=True)
    leave(run, 4, whole(1001, 10))
    leave(run, 5, whole(100, 10), replayed="call-00009", recorded_cost_usd=0.5)
    measured = account_for_cut_off_calls(run, PRICE, scripted=False)
    costs = [line["cost_usd"] for line in read_llm_calls(run.llm_calls)]
    # (100*2 + 10*10)/1e6, (100*1 + 10*5)/1e6, (1001*4 + 10*20)/1e6, and one from a record
    assert costs == [0.00003, 0.0003, 0.00015, 0.004204, 0.0]
    assert measured.cost_usd == 0.004684
    assert (measured.calls, measured.retries, measured.unpriced) == (5, 2, {"code_interpreter": 2})
    assert (measured.replayed, measured.replayed_cost_usd) == (1, 0.5)
    assert not run.open_calls.exists()


def test_a_tier_without_a_price_makes_the_cost_unknown(run: RunDirectory) -> None:
    leave(run, 2, whole(100, 10, service_tier="priority"))
    measured = account_for_cut_off_calls(run, PRICE, scripted=False)
    assert measured.cost_usd is None
    assert measured.unpriced == {"code_interpreter": 2, "service tier priority": 1}


def test_counting_tokens_is_no_model_call(run: RunDirectory) -> None:
    leave(run, 2, b'{"input_tokens": 7}', path="/messages/count_tokens")
    assert account_for_cut_off_calls(run, PRICE, scripted=False).calls == 1


def test_killed_while_a_line_and_a_question_were_written(run: RunDirectory) -> None:
    with run.llm_calls.open("a") as file:
        file.write('{"id": "call-0000')
    leave(run, 2, whole(100, 10))
    (run.open_calls / "call-00003").write_bytes(b'{"id": "call-00003", "requ')
    measured = account_for_cut_off_calls(run, PRICE, scripted=False)
    assert [line["id"] for line in read_llm_calls(run.llm_calls)] == ["call-00001", "call-00002"]
    assert (measured.calls, measured.cost_usd) == (2, 0.00033)
    assert not run.open_calls.exists()
