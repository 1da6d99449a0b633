"""Four APIs through the gateway: addresses, keys, settings, bytes, refusals."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from clawbench.gateway.dialects import DIALECTS
from clawbench.models import ApiType, Model
from clawbench.results import Usage, read_json_lines
from tests.gateway.samples import (
    ANTHROPIC,
    CHUNKS,
    GENERATED,
    GOOGLE,
    MESSAGE,
    RESPONSES,
    SAID,
    SAMPLES,
    Sample,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("streamed", [False, True])
async def test_call_passes_and_is_counted(gateway, api, new_run, kit, sample: Sample, streamed: bool) -> None:
    whole = json.dumps(sample.whole, indent=1).encode()
    api.script = [kit.streamed(*sample.events) if streamed else kit.plain(200, whole, "request-id: r9")]
    run = new_run()
    model = kit.model_at(api, api_type=sample.api_type, api_keys=(kit.KEY,), price=None)
    meter = gateway.open_run(run_id="r", model=model, run=run)
    path = (sample.stream_path or sample.path) if streamed else sample.path
    async with kit.client_of(gateway, meter.token) as client:
        body = {**sample.request, **(sample.stream if streamed else {})}
        answer = await client.post(f"http://gateway{path}", json=body, headers={"anthropic-beta": "b-1"})
    await meter.close()
    assert answer.content == (b"".join(sample.events) if streamed else whole)
    [received] = api.received
    assert received.headers[sample.key_header] == sample.key_prefix + kit.KEY
    assert received.headers["anthropic-beta"] == "b-1"
    assert meter.token not in str(received)
    if not streamed:
        assert answer.headers["request-id"] == "r9"
        assert received.path == sample.upstream_path
    if "model" in sample.request:
        assert received.body == {**body, "model": "upstream-name"}
    [line] = read_json_lines(run.llm_calls)
    assert (line["error"], line["streamed"], line["model"]) == (None, streamed, "up")
    assert meter.metered.usage == sample.usage
    assert (meter.metered.turns, meter.estimated_calls) == (1, 0)
    messages = [line["message"] for line in read_json_lines(run.messages) if line["type"] == "message"]
    assert messages == [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": SAID},
    ]


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_cut_is_readable(sample: Sample) -> None:
    dialect, stream = DIALECTS[sample.api_type], b"".join(sample.events)
    for end in range(0, len(stream), 3):
        dialect.read_answer(stream[:end], streamed=True)
    whole = json.dumps(sample.whole).encode()
    for raw in (
        whole[:40],
        b"",
        b"null",
        b"[1]",
        b'{"content":1,"output":1,"candidates":1,"usage":1}',
        b"<html>",
    ):
        dialect.read_answer(raw, streamed=False)
        dialect.read_answer(b"data: " + raw + b"\n\n", streamed=True)
    for request in ({}, {"messages": 1, "input": 1, "contents": 1, "tools": 1, "system": 1}, {"input": [1]}):
        dialect.read_prompt(request)


@pytest.mark.parametrize(
    ("sample", "cut", "counted"),
    [
        # 5 characters seen ("Hm" and "Grü") are 2 tokens of output.
        pytest.param(RESPONSES, 5, Usage(input=1, output=2), id="openai-responses"),
        pytest.param(
            ANTHROPIC,
            8,
            Usage(input=40, cache_read=60, cache_write=7, cache_write_1h=3, output=2),
            id="anthropic",
        ),
        pytest.param(GOOGLE, 2, Usage(input=100, output=2), id="google"),
    ],
)
async def test_aborted_stream_is_counted_as_far_as_it_came(
    gateway, api, new_run, kit, sample: Sample, cut: int, counted: Usage
) -> None:
    api.script = [kit.endless(*sample.events[:cut])]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_type=sample.api_type), run=run)
    path = sample.stream_path or sample.path
    expected = b"".join(sample.events[:cut])
    async with (
        kit.client_of(gateway, meter.token) as client,
        client.stream("POST", f"http://gateway{path}", json={**sample.request, **sample.stream}) as answer,
    ):
        got = b""
        async for piece in answer.aiter_raw():
            got += piece
            if got == expected:
                break
    async with asyncio.timeout(30):
        await api.hung_up.wait()
    await meter.close()
    [line] = read_json_lines(run.llm_calls)
    assert (line["aborted"], line["aborted_by"], line["usage_estimated"]) == (True, "harness", True)
    assert meter.metered.usage == counted
    # At 2, 0.5 (cached) and 10 dollars per million:
    # 1*2 + 2*10 = 22; 40*2 + 60*0.5 + 4*2 + 3*4 + 2*10 = 150; 100*2 + 2*10 = 220.
    dollars = {RESPONSES.path: 0.000022, ANTHROPIC.path: 0.00015, GOOGLE.path: 0.00022}
    assert meter.metered.cost_usd == dollars[sample.path]
    assert (meter.metered.calls, meter.metered.turns, meter.metered.errors) == (1, 0, 0)


async def test_google_array_stream_whole_and_cut(gateway, api, new_run, kit) -> None:
    array = ("[" + ",\r\n".join(json.dumps(chunk, indent=2) for chunk in CHUNKS) + "\n]\n").encode()
    api.script = [kit.plain(200, array)]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_type=ApiType.GOOGLE), run=new_run())
    async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(gateway.socket_path))) as client:
        url = f"http://gateway/v1beta/models/x:streamGenerateContent?key={meter.token}"
        answer = await client.post(url, json=GOOGLE.request)
    assert answer.content == array
    assert api.received[0].path == "/v1/models/upstream-name:streamGenerateContent"
    assert meter.metered.usage == GOOGLE.usage
    cut = DIALECTS[ApiType.GOOGLE].read_answer(array[:-60], streamed=False)
    assert (cut.complete, cut.content) == (False, [SAID[0], {"type": "text", "text": "Grü"}])


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "x-goog-api-key", "api-key"])
async def test_token_in_any_of_the_usual_headers(gateway, api, new_run, kit, header: str) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    value = f"Bearer {meter.token}" if header == "authorization" else meter.token
    # A harness may send a second, foreign key beside it.
    other = {"x-api-key": "other"} if header == "authorization" else {"authorization": "Bearer other"}
    async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(gateway.socket_path))) as client:
        answer = await client.get("http://gateway/v1/models", headers={header: value, **other})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("base", "asked", "sent"),
    [
        ("", "/v1/messages", "/v1/messages"),
        ("/anthropic", "/messages", "/anthropic/v1/messages"),
        ("/api/v1", "/v1/v1/messages", "/api/v1/messages"),
        ("/v1/", "/v1/messages/count_tokens?beta=true", "/v1/messages/count_tokens?beta=true"),
    ],
)
async def test_address_of_anthropic(gateway, api, new_run, kit, base: str, asked: str, sent: str) -> None:
    api.script = [kit.plain(200, json.dumps(MESSAGE).encode())]
    url = f"http://127.0.0.1:{api.port}{base}"
    model = kit.model_at(api, api_type=ApiType.ANTHROPIC_MESSAGES, base_url=url)
    meter = gateway.open_run(run_id="r", model=model, run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        await client.post(f"http://gateway{asked}", json=ANTHROPIC.request)
    assert api.received[0].path == sent
    assert api.received[0].headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in api.received[0].headers


@pytest.mark.parametrize(
    ("base", "asked", "sent"),
    [
        ("", "/v1beta/models/x:generateContent", "/v1beta/models/upstream-name:generateContent"),
        ("", "/v1/models/x:generateContent", "/v1/models/upstream-name:generateContent"),
        ("/v1beta", "/models/x:countTokens", "/v1beta/models/upstream-name:countTokens"),
    ],
)
async def test_address_of_google(gateway, api, new_run, kit, base: str, asked: str, sent: str) -> None:
    api.script = [kit.plain(200, json.dumps(GENERATED).encode())]
    url = f"http://127.0.0.1:{api.port}{base}"
    meter = gateway.open_run(
        run_id="r", model=kit.model_at(api, api_type=ApiType.GOOGLE, base_url=url), run=new_run()
    )
    async with kit.client_of(gateway, meter.token) as client:
        await client.post(f"http://gateway{asked}", json=GOOGLE.request)
    assert api.received[0].path == sent


async def test_settings_where_the_harness_has_none(gateway, api, new_run, kit) -> None:
    google, anthropic, responses = (DIALECTS[sample.api_type] for sample in (GOOGLE, ANTHROPIC, RESPONSES))
    model = kit.model_at(api, temperature=0.3, max_tokens=77)
    assert google.settings_for({"generationConfig": {"topK": 1, "temperature": 1}}, model) == {
        "generationConfig": {"topK": 1, "temperature": 1, "maxOutputTokens": 77}
    }
    assert google.settings_for({"generationConfig": {"temperature": 1, "maxOutputTokens": 5}}, model) == {}
    assert anthropic.settings_for({"max_tokens": 5}, model) == {"model": "upstream-name", "temperature": 0.3}
    assert anthropic.settings_for({"thinking": {"type": "enabled"}}, model) == {
        "model": "upstream-name",
        "max_tokens": 77,
    }
    assert responses.settings_for({"temperature": 0}, model) == {
        "model": "upstream-name",
        "max_output_tokens": 77,
    }


async def test_counting_tokens_is_no_model_call(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(200, b'{"input_tokens": 2095}')]
    run = new_run()
    model = kit.model_at(api, api_type=ApiType.ANTHROPIC_MESSAGES, max_tokens=9, temperature=0.1)
    meter = gateway.open_run(run_id="r", model=model, run=run)
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/messages/count_tokens", json={"model": "x", "messages": []})
    await meter.close()
    assert answer.json() == {"input_tokens": 2095}
    assert api.received[0].body == {"model": "upstream-name", "messages": []}
    assert (meter.metered.calls, meter.metered.usage, meter.metered.cost_usd) == (0, Usage(), 0)
    [line] = read_json_lines(run.llm_calls)
    assert (line["operation"], line["usage"], line["error"]) == ("count_tokens", None, None)
    assert [line["type"] for line in read_json_lines(run.messages)] == ["session"]


FOREIGN = [
    ("/v1/chat/completions", ("error", "code"), "wrong_api_type"),
    ("/v1/responses", ("error", "type"), "invalid_request_error"),
    ("/v1/messages", ("error", "type"), "invalid_request_error"),
    ("/v1beta/models/x:generateContent", ("error", "status"), "INVALID_ARGUMENT"),
]


@pytest.mark.parametrize(("path", "place", "expected"), FOREIGN)
async def test_foreign_api_is_refused_in_its_own_words(
    gateway, api, new_run, kit, path: str, place: tuple[str, str], expected: str
) -> None:
    own = ApiType.ANTHROPIC_MESSAGES if "messages" not in path else ApiType.GOOGLE
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_type=own), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post(f"http://gateway{path}", json={})
    await meter.close()
    assert answer.status_code == 400
    assert answer.json()[place[0]][place[1]] == expected
    assert f"speaks {own.value}, not" in answer.json()["error"]["message"]
    assert [line["refused"] for line in read_json_lines(run.llm_calls)] == [True]
    assert api.received == []


async def test_refusals_are_in_the_shape_of_the_api(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(
        run_id="r", model=kit.model_at(api, api_type=ApiType.ANTHROPIC_MESSAGES), run=new_run()
    )
    async with kit.client_of(gateway, "wrong") as client:
        messages = await client.post("/messages", json={})
        google = await client.post("http://gateway/v1beta/models/x:generateContent", json={})
    async with kit.client_of(gateway, meter.token) as client:
        unknown = await client.post("/messages/batches", json={})
    assert messages.status_code == google.status_code == 401
    assert (messages.json()["type"], messages.json()["error"]["type"]) == ("error", "authentication_error")
    assert (google.json()["error"]["code"], google.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found_error")


async def test_background_responses_are_refused(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(
        run_id="r", model=kit.model_at(api, api_type=ApiType.OPENAI_RESPONSES), run=new_run()
    )
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/responses", json={"input": "x", "background": True})
    assert (answer.status_code, api.received) == (400, [])


@pytest.mark.parametrize("sample", SAMPLES)
async def test_rate_limit_passes_unchanged(gateway, api, new_run, kit, sample: Sample) -> None:
    body = json.dumps(DIALECTS[sample.api_type].error_body(429, "slow down", "x")).encode()
    api.script = [kit.plain(429, body, "retry-after: 7", "anthropic-ratelimit-requests-remaining: 0")]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_type=sample.api_type), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post(f"http://gateway{sample.path}", json=sample.request)
    assert (answer.status_code, answer.content, answer.headers["retry-after"]) == (429, body, "7")
    assert answer.headers["anthropic-ratelimit-requests-remaining"] == "0"
    assert meter.last_failure == "HTTP 429: slow down"


@pytest.mark.parametrize("sample", SAMPLES)
async def test_probe(api, kit, sample: Sample) -> None:
    from clawbench.gateway import probe_model

    api.script = [kit.plain(200, json.dumps(sample.whole).encode())]
    assert await probe_model(kit.model_at(api, api_type=sample.api_type)) is None
    api.script = [kit.plain(401, b'{"error":{"message":"bad key"}}')]
    assert await probe_model(kit.model_at(api, api_type=sample.api_type)) == "HTTP 401: bad key"


OPEN = {"type": "function", "name": "open", "parameters": {}}
NAMESPACED = [{"type": "namespace", "name": "mcp__web", "tools": [OPEN]}, {**OPEN, "name": "shell"}]
OPENS_ONCE = """
rules:
  - when: {tools: [shell, mcp__web__open], not_called: mcp__web__open}
    calls: [{tool: mcp__web__open, arguments: {}}]
  - when: {called: mcp__web__open}
    text: Done.
"""


async def test_tools_of_a_namespace_by_their_full_name(gateway, new_run, kit, tmp_path) -> None:
    (tmp_path / "policy.yaml").write_text(OPENS_ONCE, encoding="utf-8")
    model = Model(
        name="m", base_url=f"scripted:{tmp_path / 'policy.yaml'}", api_type=ApiType.OPENAI_RESPONSES
    )
    meter = gateway.open_run(run_id="r", model=model, run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        asked = {"input": [{"role": "user", "content": "Go"}], "tools": NAMESPACED}
        [call] = (await client.post("/responses", json=asked)).json()["output"]
        told = {"type": "function_call_output", "call_id": call["call_id"], "output": "opened"}
        again = {**asked, "input": [*asked["input"], call, told]}
        [said] = (await client.post("/responses", json=again)).json()["output"]
    assert (call["namespace"], call["name"]) == ("mcp__web", "open")
    assert said["content"][0]["text"] == "Done."
