"""Bytes, status, headers and keys between a harness, the gateway and a model's API."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from clawbench.gateway.wire import LARGEST_BODY
from clawbench.results import read_json_lines

pytestmark = pytest.mark.anyio


async def test_whole_answer_is_passed_byte_for_byte(gateway, api, new_run, kit) -> None:
    body = b'{ "odd" :   "spacing \\u00e9 \xc3\xa9", "choices": [] }\r\n'
    api.script = [kit.plain(200, body, "x-request-id: abc", "Content-Type: application/json; charset=utf-8")]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert answer.content == body
    assert answer.headers["x-request-id"] == "abc"
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["content-length"] == str(len(body))


async def test_stream_is_passed_as_it_arrives(gateway, api, new_run, kit) -> None:
    released = asyncio.Event()
    first, second = kit.event({"choices": [{"index": 0, "delta": {"content": "é"}}]}), b"data: [DONE]\n\n"

    async def paced(writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%s\r\n" % (len(first), first))
        await writer.drain()
        await released.wait()
        writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(second), second))
        await writer.drain()

    api.script = [paced]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with (
        kit.client_of(gateway, meter.token) as client,
        client.stream("POST", "/chat/completions", json=kit.ask(stream=True)) as answer,
    ):
        pieces = answer.aiter_raw()
        async with asyncio.timeout(5):
            assert await anext(pieces) == first
        assert meter.calls_under_way == 1
        released.set()
        assert b"".join([piece async for piece in pieces]) == second
    assert meter.calls_under_way == 0


async def test_long_stream_is_identical(gateway, api, new_run, kit) -> None:
    pieces = [
        kit.event({"choices": [{"index": 0, "delta": {"content": f"{n} ünï sk-"}}]}) for n in range(500)
    ]
    whole = b"".join([*pieces, b"data: [DONE]\n\n"])
    odd = [whole[start : start + 37] for start in range(0, len(whole), 37)]
    api.script = [kit.streamed(*odd)]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask(stream=True))
    assert answer.content == whole
    await meter.close()
    [line] = read_json_lines(run.llm_calls)
    assert line["response"].encode() == whole


async def test_request_is_passed_on_with_key_and_settings(gateway, api, new_run, kit) -> None:
    model = kit.model_at(api, temperature=0.3, max_tokens=77)
    meter = gateway.open_run(run_id="r", model=model, run=new_run())
    asked = kit.ask("höi \ud83d\ude00", seed=5, stream=True, stream_options={"other": 1})
    async with kit.client_of(gateway, meter.token) as client:
        await client.post(
            "/chat/completions",
            content=json.dumps(asked).encode(),
            headers={"x-stainless-lang": "python", "cookie": "a=b", "openai-organization": "org"},
        )
        await client.post("/chat/completions", json=kit.ask(temperature=1, max_completion_tokens=5))
    first, second = api.received
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == f"Bearer {kit.KEY}"
    assert first.headers["x-stainless-lang"] == "python"
    assert not {"cookie", "openai-organization", "x-api-key"} & set(first.headers)
    assert meter.token not in str(first)
    assert first.body == {
        **asked,
        "messages": [{"role": "user", "content": "höi 😀"}],
        "model": "upstream-name",
        "temperature": 0.3,
        "max_tokens": 77,
        "stream_options": {"other": 1, "include_usage": True},
    }
    assert second.body == {**kit.ask(temperature=1, max_completion_tokens=5), "model": "upstream-name"}


async def test_keys_are_used_in_turn(gateway, api, new_run, kit) -> None:
    model = kit.model_at(api, api_keys=("sk-first-key-0000000", "sk-second-key-000000"))
    meter = gateway.open_run(run_id="r", model=model, run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        for _ in range(3):
            await client.post("/chat/completions", json=kit.ask())
    used = [request.headers["authorization"].split("-")[1] for request in api.received]
    assert used == ["first", "second", "first"]


async def test_server_without_key(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_keys=()), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
    assert "authorization" not in api.received[0].headers


async def test_rate_limit_passes_unchanged(gateway, api, new_run, kit) -> None:
    body = b'{"error":{"message":"slow down","type":"rate_limit_error"}}'
    api.script = [
        kit.plain(429, body, "Retry-After: 7", "x-ratelimit-remaining-tokens: 0", "Set-Cookie: s=1")
    ]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert (answer.status_code, answer.content) == (429, body)
    assert answer.headers["retry-after"] == "7"
    assert answer.headers["x-ratelimit-remaining-tokens"] == "0"
    assert "set-cookie" not in answer.headers
    assert (meter.metered.calls, meter.metered.turns, meter.metered.errors) == (1, 0, 1)
    assert meter.last_failure == "HTTP 429: slow down"
    await meter.close()
    [line] = read_json_lines(run.llm_calls)
    assert (line["status"], line["error"], line["usage"]) == (429, "HTTP 429: slow down", None)


async def test_overloaded_status_without_a_name(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(529, b"busy", "content-type: text/plain")]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert (answer.status_code, answer.text) == (529, "busy")


async def test_nobody_there(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(
        run_id="r", model=kit.model_at(api, base_url="http://127.0.0.1:1/v1"), run=new_run()
    )
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_unreachable"
    assert meter.metered.errors == 1


async def test_stream_cut_upstream_is_cut_downstream(gateway, api, new_run, kit, capfd) -> None:
    piece = kit.event({"choices": [{"index": 0, "delta": {"content": "12345678"}}]})
    api.script = [kit.cut_after(piece)]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with (
        kit.client_of(gateway, meter.token) as client,
        client.stream("POST", "/chat/completions", json=kit.ask(stream=True)) as answer,
    ):
        pieces = answer.aiter_raw()
        assert await anext(pieces) == piece
        with pytest.raises(httpx.RemoteProtocolError):
            await anext(pieces)
    await meter.close()
    [line] = read_json_lines(run.llm_calls)
    assert line["error"].startswith("RemoteProtocolError")
    assert line["usage_estimated"] is True
    assert line["usage"]["output"] == 2
    assert (meter.metered.turns, meter.metered.errors, meter.estimated_calls) == (0, 1, 1)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("begun", [True, False])
async def test_harness_that_hangs_up_cancels_upstream(gateway, api, new_run, kit, begun: bool) -> None:
    piece = kit.event({"choices": [{"index": 0, "delta": {"content": "x" * 40}}]})
    api.script = [kit.endless(piece) if begun else kit.silent()]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    changed = asyncio.Event()
    meter._on_change = changed.set
    async with kit.client_of(gateway, meter.token) as client:
        if begun:
            async with client.stream("POST", "/chat/completions", json=kit.ask(stream=True)) as answer:
                assert await anext(answer.aiter_raw()) == piece
        else:
            sending = asyncio.create_task(client.post("/chat/completions", json=kit.ask()))
            await api.arrived.wait()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
    async with asyncio.timeout(5):
        await api.hung_up.wait()
        while meter.calls_under_way:
            changed.clear()
            await changed.wait()
    await meter.close()
    [line] = read_json_lines(run.llm_calls)
    assert (line["aborted"], line["aborted_by"], line["error"]) == (True, "harness", None)
    assert (meter.metered.calls, meter.metered.turns, meter.metered.errors) == (1, 0, 0)
    if begun:
        assert (line["usage"]["output"], line["usage_estimated"]) == (10, True)
    else:
        assert line["usage"] is None


async def test_hanging_up_after_the_end_mark_is_no_abort(gateway, api, new_run, kit) -> None:
    whole = kit.event({"choices": [{"index": 0, "delta": {"content": "x"}}]}) + b"data: [DONE]\n\n"
    api.script = [kit.endless(whole)]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with (
        kit.client_of(gateway, meter.token) as client,
        client.stream("POST", "/chat/completions", json=kit.ask(stream=True)) as answer,
    ):
        assert await anext(answer.aiter_raw()) == whole
    async with asyncio.timeout(5):
        await api.hung_up.wait()
    await meter.close()
    assert meter.metered.turns == 1
    [line] = read_json_lines(run.llm_calls)
    assert (line["aborted"], line["error"]) == (False, None)


async def test_large_request_passes_and_too_large_is_refused(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        large = await client.post("/chat/completions", json=kit.ask("x" * 20_000_000), timeout=30)
        refused = await client.post("/chat/completions", content=b" " * (LARGEST_BODY + 1), timeout=30)
    assert large.status_code == 200
    assert len(api.received[0].body["messages"][0]["content"]) == 20_000_000
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "request_too_large")
    assert len(api.received) == 1
    assert meter.metered.calls == 1


async def test_compressed_answer_is_unpacked(gateway, api, new_run, kit) -> None:
    import gzip

    body = kit.completion("packed")
    api.script = [kit.plain(200, gzip.compress(body), "content-encoding: gzip")]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert answer.content == body
    assert meter.metered.usage.input == 100
    assert api.received[0].headers["accept-encoding"] == "identity"


async def test_two_hundred_streams_at_once(gateway, api, new_run, kit) -> None:
    pieces = [kit.event({"choices": [{"index": 0, "delta": {"content": str(n)}}]}) for n in range(20)]
    whole = b"".join([*pieces, b"data: [DONE]\n\n"])
    api.script = [kit.streamed(*pieces, b"data: [DONE]\n\n")]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        client.timeout = httpx.Timeout(30)
        answers = await asyncio.gather(
            *(client.post("/chat/completions", json=kit.ask(stream=True)) for _ in range(200))
        )
    assert all(answer.content == whole for answer in answers)
    assert (meter.metered.calls, meter.metered.turns, meter.calls_under_way) == (200, 200, 0)


async def test_answer_that_cannot_be_unpacked_passes_as_it_is(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    api.script = [kit.plain(200, b"\x8b\x01\x80{}\x03", "content-encoding: x-unheard-of")]
    client = kit.client_of(gateway, meter.token)
    async with client, client.stream("POST", "/chat/completions", json=kit.ask()) as answer:
        raw = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert raw == b"\x8b\x01\x80{}\x03"
    assert answer.headers["content-encoding"] == "x-unheard-of"
    assert meter.metered.errors == 1


async def test_headers_of_limits_and_ids_pass_and_cookies_do_not(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    given = {
        "x-request-id": "req_1",
        "request-id": "req_2",
        "retry-after": "0",
        "retry-after-ms": "5",
        "x-should-retry": "true",
        "x-ratelimit-remaining-tokens": "7",
        "anthropic-ratelimit-requests-reset": "2030-01-01T00:00:00Z",
        "openai-processing-ms": "12",
    }
    lines = [f"{name}: {value}" for name, value in given.items()]
    api.script = [kit.plain(429, b'{"error":{}}', *lines, "set-cookie: a=1", "connection: keep-alive")]
    async with kit.client_of(gateway, meter.token) as client:
        for _ in range(2):
            answer = await client.post("/chat/completions", json=kit.ask(), headers={"cookie": "b=2"})
            assert {name: answer.headers.get(name) for name in given} == given
            assert "set-cookie" not in answer.headers
    assert all("cookie" not in request.headers for request in api.received)


async def test_fifty_megabytes_both_ways(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    answer = kit.completion("b" * (50 * 2**20 - 4096))
    api.script = [kit.plain(200, answer)]
    async with kit.client_of(gateway, meter.token) as client:
        client.timeout = 60
        got = await client.post("/chat/completions", json=kit.ask("a" * (50 * 2**20 - 4096)))
    assert got.content == answer
    assert len(api.received[0].body["messages"][0]["content"]) == 50 * 2**20 - 4096
    assert meter.metered.usage.total == 120


async def test_the_machines_proxy_is_used_and_passed_by(gateway, api, new_run, kit, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{api.port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for url in ("http://model.invalid/v1", api.url):
        meter = gateway.open_run(run_id="r", model=kit.model_at(api, base_url=url), run=new_run())
        async with kit.client_of(gateway, meter.token) as client:
            assert (await client.post("/chat/completions", json=kit.ask())).status_code == 200
    assert [request.path for request in api.received] == [
        "http://model.invalid/v1/chat/completions",
        "/v1/chat/completions",
    ]
