"""The record of an answer gives its bytes back, and a call under way is on disk."""

from __future__ import annotations

import json

import pytest

from clawbench.gateway.open_call import cut_off_calls
from clawbench.gateway.recording import exact_fields, kept_headers, pieces, shown_body, written
from clawbench.results import read_llm_calls

BODIES = {
    "compact": [b'{"a":1,"b":"\xc3\xa4"}'],
    "spaced": [b'{"a": 1.0, "b": [1, 2]}'],
    "twice the same name": [b'{"a":1,', b'"a":2}'],
    "no JSON": [b"<html>", b"busy</html>"],
    "cut in a character": [b'data: {"x":"\xc3'],
    "not text": [b"\xff\xfe\x00", b"\x80"],
    "nothing": [],
    "stream": [b"data: 1\r\n\r\n", b"dat", b"a: 2\n\n"],
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("streamed", [False, True])
def test_bytes_and_pieces_come_back(name: str, streamed: bool) -> None:
    chunks = BODIES[name]
    shown = shown_body(b"".join(chunks), streamed=streamed)
    fields = json.loads(json.dumps(exact_fields(chunks, shown)))
    if "raw_base64" in fields:
        import base64

        raw = base64.b64decode(fields["raw_base64"])
    else:
        raw = fields["raw"].encode() if "raw" in fields else written(json.loads(json.dumps(shown)))
    assert pieces(raw, fields.get("chunks", [])) == chunks


def test_headers_that_tell_whose_account_it_is_are_left_out() -> None:
    given = [
        ("Content-Type", "x"),
        ("openai-organization", "acme"),
        ("X-RateLimit-Reset", "3"),
        ("cf-ray", "9"),
    ]
    assert kept_headers(given) == [["content-type", "x"], ["x-ratelimit-reset", "3"]]


@pytest.mark.anyio
async def test_a_call_under_way_is_on_disk_and_gone_when_it_is_written_down(
    gateway, api, new_run, kit
) -> None:
    first = kit.event({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})
    api.script = [kit.endless(first)]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    client = kit.client_of(gateway, meter.token)
    async with client, client.stream("POST", "/chat/completions", json=kit.ask(stream=True)) as answer:
        assert await anext(answer.aiter_raw()) == first
        (left,) = cut_off_calls(run.open_calls)
        assert (left.head["id"], left.head["path"]) == ("call-00001", "/chat/completions")
        assert left.head["request"] == kit.ask(stream=True)
        assert (left.answer["status"], left.answer["streamed"], left.body) == (200, True, first)
        assert kit.KEY not in left.path.read_text()
        assert meter.token not in left.path.read_text()
    await meter.close()
    assert not run.open_calls.exists()
    (line,) = read_llm_calls(run.llm_calls)
    assert (line["aborted"], line["response"].encode()) == (True, first)


@pytest.mark.anyio
async def test_what_is_needed_to_give_an_answer_again(gateway, api, new_run, kit) -> None:
    api.script = [
        kit.plain(429, b'{"error": {"message": "slow"}}', "retry-after: 0", "x-request-id: q", "cf-ray: 9"),
        kit.cut_after(b"data: {}\n\n"),
        kit.streamed(b"data: 1\n\n", b"data: [DONE]\n\n"),
    ]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions?a=1&key=" + meter.token, json=kit.ask())
        with pytest.raises(Exception, match="incomplete"):
            await client.post("/chat/completions", json=kit.ask(stream=True))
        await client.post("/chat/completions", json=kit.ask(stream=True))
    await meter.close()
    refused, cut, whole = read_llm_calls(run.llm_calls)
    assert refused["query"] == "a=1"
    assert ["retry-after", "0"] in refused["headers"]
    assert "cf-ray" not in dict(refused["headers"])
    assert refused["raw"] == '{"error": {"message": "slow"}}'
    assert (cut["unreachable"], cut["response"]) == (True, "data: {}\n\n")
    assert sum(whole["chunks"]) == len(whole["response"]) if "chunks" in whole else whole["response"]
    assert "unreachable" not in whole
