"""A record that is missing, cut or edited: every problem says which file, which line, what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError
from clawbench.gateway import read_record
from clawbench.gateway.open_call import OpenCall
from clawbench.results import RunDirectory

GOOD: dict[str, Any] = {
    "id": "call-00001",
    "path": "/chat/completions",
    "request": {"messages": []},
    "status": 200,
    "streamed": True,
    "headers": [["content-type", "text/event-stream"], ["content-length", "8"]],
    "response": "abcdefgh",
    "chunks": [3, 5],
}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, batch="b", suite="s", task="t", harness="h", model="m")


def write(run: RunDirectory, *lines: Any) -> None:
    run.llm_calls.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_pieces_come_back(run: RunDirectory) -> None:
    refused = {"id": "refused-00002", "path": "/x", "status": 404, "refused": True}
    write(run, refused, GOOD)
    (call,) = read_record(run)
    assert (call.chunks, call.status) == ((b"abc", b"defgh"), 200)


def test_a_last_line_cut_short_is_left_out(run: RunDirectory) -> None:
    write(run, GOOD)
    with run.llm_calls.open("a") as file:
        file.write('{"id": "call-0000')
    assert [call.id for call in read_record(run)] == ["call-00001"]


def test_an_edited_answer_is_given_as_edited(run: RunDirectory) -> None:
    edited = {**GOOD, "response": "something else", "chunks": []}
    write(run, edited)
    (call,) = read_record(run)
    assert call.chunks == (b"something else",)
    assert "content-length" not in dict(call.headers)


def test_a_call_cut_off_by_a_kill_is_the_last(run: RunDirectory) -> None:
    write(run, GOOD)
    head = {"id": "call-00002", "path": "/chat/completions", "query": "", "request": {"messages": ["x"]}}
    left = OpenCall(run.open_calls, head)
    left.begin_answer({"status": 200, "streamed": True, "headers": []})
    left.write(b"data: ha\nlf")
    before = OpenCall(run.open_calls, {**head, "id": "call-00003"})
    _, second, third = read_record(run)
    assert (second.id, second.chunks, second.cut_off_by is not None) == (
        "call-00002",
        (b"data: ha\nlf",),
        True,
    )
    assert (third.status, third.chunks) == (None, ())
    left.close()
    before.close()


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([GOOD, {**GOOD, "id": "call-00002", "response": "short"}], "line 2: `chunks` do not add up"),
        ([{**GOOD, "status": "fine"}], "line 1: `status` is wrong"),
        ([{k: v for k, v in GOOD.items() if k != "request"}], "line 1: `request` is missing"),
        ([GOOD, GOOD], "line 2: call-00001 is there twice"),
        ([{**GOOD, "raw_base64": "???"}], "line 1: `raw_base64` is not base64"),
        ([GOOD, ["x"]], "line 2 is not an object"),
        ([GOOD, {**GOOD, "id": "c2", "request": {"m": {"$same_as": "c9/x"}}}], "line 2 points at 'c9/x'"),
    ],
)
def test_a_bad_line_is_named(run: RunDirectory, lines: list[Any], problem: str) -> None:
    write(run, *lines)
    with pytest.raises(InputError) as caught:
        read_record(run)
    assert f"llm-calls.jsonl: {problem}" in str(caught.value)
    assert caught.value.remedy


def test_a_line_that_is_no_json(run: RunDirectory) -> None:
    run.llm_calls.write_text('{"id": \n' + json.dumps(GOOD) + "\n")
    with pytest.raises(InputError, match=r"llm-calls\.jsonl: line 1 is not JSON"):
        read_record(run)


def test_no_record_at_all(run: RunDirectory) -> None:
    with pytest.raises(InputError, match=r"llm-calls\.jsonl: is missing"):
        read_record(run)


def test_what_is_left_of_a_call_and_is_none(run: RunDirectory) -> None:
    write(run, GOOD)
    run.open_calls.mkdir()
    (run.open_calls / "call-00002").write_bytes(b"rubbish\n")
    with pytest.raises(InputError, match="call-00002: is not the beginning"):
        read_record(run)
