from __future__ import annotations

import json

from clawbench.gateway.dialects import CHAT, chat_answer
from clawbench.gateway.sse import data_of
from clawbench.results import Usage


def _event(delta: dict[str, object], **more: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}], **more}).encode() + b"\n\n"


STREAM = b"".join(
    [
        b": keep-alive\n\n",
        _event({"role": "assistant", "content": None}, model="up"),
        _event({"reasoning_content": "Let me "}),
        _event({"reasoning_content": "see."}),
        _event({"content": "Grüße "}),
        _event({"content": "you"}),
        _event({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "one", "arguments": '{"x"'}}]}),
        _event({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "two", "arguments": "{}"}}]}),
        _event({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}),
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n',
        b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}\n\n',
        b"data: [DONE]\n\n",
    ]
)


def test_stream_is_put_together() -> None:
    answer = chat_answer.read_stream(STREAM)
    assert answer.content == [
        {"type": "thinking", "thinking": "Let me see."},
        {"type": "text", "text": "Grüße you"},
        {"type": "toolCall", "id": "a", "name": "one", "arguments": {"x": 1}},
        {"type": "toolCall", "id": "b", "name": "two", "arguments": {}},
    ]
    assert answer.usage == Usage(input=9, output=4)
    assert (answer.finish_reason, answer.model, answer.complete) == ("tool_calls", "up", True)


def test_crlf_stream_reads_the_same() -> None:
    assert chat_answer.read_stream(STREAM.replace(b"\n", b"\r\n")) == chat_answer.read_stream(STREAM)


def test_broken_stream_counts_as_far_as_it_came() -> None:
    cut = STREAM[: STREAM.index(b"you") + 1]
    answer = chat_answer.read_stream(cut)
    assert answer.content[-1] == {"type": "text", "text": "Grüße "}
    assert (answer.usage, answer.complete, answer.finish_reason) == (None, False, None)


def test_every_cut_is_readable() -> None:
    for end in range(len(STREAM)):
        chat_answer.read_stream(STREAM[:end])


def test_error_inside_a_stream() -> None:
    raw = _event({"content": "a"}) + b'data: {"error":{"message":"overloaded","code":502}}\n\n'
    assert chat_answer.read_stream(raw).error == "overloaded"


def test_odd_answers_are_no_crash() -> None:
    for raw in (
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"choices":null}',
        b'{"choices":[1]}',
        b'{"choices":[{"message":1}]}',
    ):
        chat_answer.read_whole(raw)
        chat_answer.read_stream(b"data: " + raw + b"\n\n")
    assert chat_answer.read_whole(b"<html>").error == "the answer is not a JSON object"


def test_error_bodies() -> None:
    assert CHAT.read_error(b'{"error":{"message":"no"}}', 400) == "HTTP 400: no"
    assert CHAT.read_error(b"<html>bad", 502) == "HTTP 502: <html>bad"
    assert CHAT.read_error(b'{"error":"gone"}', 404) == "HTTP 404: gone"


def test_multi_line_data() -> None:
    assert list(data_of(b"data: a\ndata: b\n\nevent: x\ndata:c\n\ndata: cut")) == ["a\nb", "c"]
