"""The official client libraries, unmodified: through the gateway they receive what they receive directly."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.gateway import load_policy
from clawbench.models import ApiType
from clawbench.results import Price, read_json_lines

openai = pytest.importorskip("openai", reason="the openai client library is not installed")
anthropic = pytest.importorskip("anthropic", reason="the anthropic client library is not installed")
genai = pytest.importorskip("google.genai", reason="the google-genai client library is not installed")
pytestmark = pytest.mark.anyio

POLICY = r"""
rules:
  - when: {last: rate limit}
    fault: {status: 429, retry_after: 3}
  - when: {last: out of order}
    fault: {status: 500}
  - when: {last: cut it}
    text: This answer never comes to its end, because its connection is cut while it is still being sent, and
      nobody will ever learn what its last words would have been, however patiently they wait for them.
    fault: {cut_after: 6}
  - when: {last: picture}
    text: I see a picture.
  - when: {turn: 1, last: 'found a (?P<what>\w+)'}
    text: It is a ${what}.
  - when: {tools: [look], turn: 0}
    thinking: I should look first, and then say what it is.
    text: I will look at it, Grüße.
    calls: [{tool: look, arguments: {at: "the page", times: 2}}, {tool: look, arguments: {at: "the end"}}]
  - text: Hello, I am a scripted model.
"""
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}}
LOOK = {"name": "look", "description": "Looks", "parameters": SCHEMA}


def _png() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0abc"))
        + chunk(b"IEND", b"")
    )


PNG = _png()
DATA = base64.b64encode(PNG).decode()


async def _failure(asking: Awaitable[Any]) -> dict[str, Any]:
    try:
        await asking
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        after = error.response.headers.get("retry-after")
        return {
            "error": type(error).__name__,
            "status": error.status_code,
            "body": error.body,
            "after": after,
        }
    except genai.errors.APIError as error:
        return {"error": type(error).__name__, "status": error.code, "body": error.details, "after": None}
    except Exception as error:
        return {"error": type(error).__name__}
    return {"error": None}


async def _drain(stream: Any) -> list[Any]:
    return [event.model_dump(mode="json") async for event in stream]


async def chat(port: int, key: str) -> dict[str, Any]:
    def said(*messages: Any, **more: Any) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": "Look"}, *messages], **more}

    tools = [{"type": "function", "function": LOOK}]
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
    picture = {"role": "user", "content": [{"type": "text", "text": "a picture"}, url]}
    base = f"http://127.0.0.1:{port}/v1"
    async with openai.AsyncOpenAI(api_key=key, base_url=base, max_retries=0) as client:
        create = client.chat.completions.create
        options = {"stream": True, "stream_options": {"include_usage": True}}
        tooled = await create(**said(tools=tools))
        answer = tooled.choices[0].message
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": "found a cat"} for call in answer.tool_calls
        ]

        async def cut() -> None:
            await _drain(await create(**said({"role": "user", "content": "cut it"}, **options)))

        return {
            "plain": (await create(**said())).model_dump(mode="json"),
            "streamed": await _drain(await create(**said(tools=tools, **options))),
            "tools": tooled.model_dump(mode="json"),
            "after": (await create(**said(answer.model_dump(exclude_none=True), *results))).model_dump(
                mode="json"
            ),
            "picture": (await create(**said(picture))).model_dump(mode="json"),
            "limited": await _failure(create(**said({"role": "user", "content": "rate limit"}))),
            "broken": await _failure(create(**said({"role": "user", "content": "out of order"}))),
            "cut": await _failure(cut()),
        }


async def responses(port: int, key: str) -> dict[str, Any]:
    tools = [{"type": "function", "strict": None, **LOOK}]
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{DATA}"}
    picture = [{"role": "user", "content": [{"type": "input_text", "text": "a picture"}, image]}]
    base = f"http://127.0.0.1:{port}/v1"
    async with openai.AsyncOpenAI(api_key=key, base_url=base, max_retries=0) as client:
        create = client.responses.create
        tooled = await create(model="m", input="Look", tools=tools)
        given = [item.model_dump(exclude_none=True) for item in tooled.output]
        results = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "found a cat"}
            for item in tooled.output
            if item.type == "function_call"
        ]
        history = [{"role": "user", "content": "Look"}, *given, *results]

        async def cut() -> None:
            await _drain(await create(model="m", input="cut it", stream=True))

        return {
            "plain": (await create(model="m", input="Hi", instructions="Be kind")).model_dump(mode="json"),
            "streamed": await _drain(await create(model="m", input="Look", tools=tools, stream=True)),
            "tools": tooled.model_dump(mode="json"),
            "after": (await create(model="m", input=history, tools=tools)).model_dump(mode="json"),
            "picture": (await create(model="m", input=picture)).model_dump(mode="json"),
            "limited": await _failure(create(model="m", input="rate limit")),
            "broken": await _failure(create(model="m", input="out of order")),
            "cut": await _failure(cut()),
        }


async def messages(port: int, key: str) -> dict[str, Any]:
    def said(*more: Any, **fields: Any) -> dict[str, Any]:
        first = {"role": "user", "content": "Look"}
        return {"model": "m", "max_tokens": 99, "messages": [first, *more], **fields}

    tools = [{"name": "look", "description": "Looks", "input_schema": SCHEMA}]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
    picture = {"role": "user", "content": [image, {"type": "text", "text": "a picture"}]}
    base = f"http://127.0.0.1:{port}"
    async with anthropic.AsyncAnthropic(api_key=key, base_url=base, max_retries=0) as client:
        create = client.messages.create
        cached = [{"type": "text", "text": "Be kind", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
        tooled = await create(**said(tools=tools, system=cached))
        answer = {"role": "assistant", "content": [block.model_dump() for block in tooled.content]}
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "found a cat"}
            for block in tooled.content
            if block.type == "tool_use"
        ]
        beta = await client.beta.messages.create(**said(betas=["context-1m-2025-08-07"]))

        async def cut() -> None:
            await _drain(await create(**said({"role": "user", "content": "cut it"}, stream=True)))

        return {
            "plain": beta.model_dump(mode="json"),
            "streamed": await _drain(await create(**said(tools=tools, stream=True))),
            "tools": tooled.model_dump(mode="json"),
            "after": (await create(**said(answer, {"role": "user", "content": results}))).model_dump(
                mode="json"
            ),
            "picture": (await create(**said(picture))).model_dump(mode="json"),
            "limited": await _failure(create(**said({"role": "user", "content": "rate limit"}))),
            "broken": await _failure(create(**said({"role": "user", "content": "out of order"}))),
            "cut": await _failure(cut()),
            "counted": (
                await client.messages.count_tokens(model="m", messages=said()["messages"])
            ).model_dump(mode="json"),
        }


async def google(port: int, key: str) -> dict[str, Any]:
    types = genai.types
    config = types.GenerateContentConfig(
        system_instruction="Be kind", tools=[types.Tool(function_declarations=[LOOK])]
    )
    options = types.HttpOptions(base_url=f"http://127.0.0.1:{port}")
    async with genai.Client(api_key=key, http_options=options).aio as client:

        async def ask(contents: Any, **more: Any) -> Any:
            answer = await client.models.generate_content(model="m", contents=contents, **more)
            return answer.model_dump(mode="json", exclude={"sdk_http_response"})

        async def stream(contents: Any, **more: Any) -> list[Any]:
            chunks = await client.models.generate_content_stream(model="m", contents=contents, **more)
            return [chunk.model_dump(mode="json", exclude={"sdk_http_response"}) async for chunk in chunks]

        tooled = await client.models.generate_content(model="m", contents="Look", config=config)
        results = [
            types.Part.from_function_response(name=call.name, response={"result": "found a cat"})
            for call in tooled.function_calls
        ]
        first = types.Content(role="user", parts=[types.Part.from_text(text="Look")])
        history = [first, tooled.candidates[0].content, types.Content(role="user", parts=results)]
        picture = [
            types.Part.from_bytes(data=PNG, mime_type="image/png"),
            types.Part.from_text(text="a picture"),
        ]
        counted = await client.models.count_tokens(model="m", contents="Look")
        return {
            "plain": await ask("Hi"),
            "streamed": await stream("Look", config=config),
            "tools": tooled.model_dump(mode="json", exclude={"sdk_http_response"}),
            "after": await ask(history, config=config),
            "picture": await ask([types.Content(role="user", parts=picture)]),
            "limited": await _failure(ask("rate limit")),
            "broken": await _failure(ask("out of order")),
            "cut": await _failure(stream("cut it")),
            "counted": counted.model_dump(mode="json", exclude={"sdk_http_response"}),
        }


Talk = Callable[[int, str], Awaitable[dict[str, Any]]]
TALKS = [
    pytest.param(ApiType.OPENAI_COMPLETIONS, chat, id="openai chat"),
    pytest.param(ApiType.OPENAI_RESPONSES, responses, id="openai responses"),
    pytest.param(ApiType.ANTHROPIC_MESSAGES, messages, id="anthropic"),
    pytest.param(ApiType.GOOGLE, google, id="google"),
]
ERRORS = {
    "openai-completions": ("RateLimitError", "InternalServerError"),
    "openai-responses": ("RateLimitError", "InternalServerError"),
    "anthropic-messages": ("RateLimitError", "InternalServerError"),
    "google-generative-ai": ("ClientError", "ServerError"),
}


@pytest.mark.parametrize(("api_type", "talk"), TALKS)
async def test_identical_through_the_gateway(
    gateway, api, new_run, kit, tmp_path: Path, api_type: ApiType, talk: Talk
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    port, run = await gateway.serve_tcp(), new_run()
    async with kit.serve_directly(load_policy(file), api_type) as upstream:
        directly = await talk(upstream, "any-key")
        url = f"http://127.0.0.1:{upstream}" + ("/v1" if "openai" in api_type.value else "")
        price = Price(input=3, output=15)
        model = kit.model_at(api, api_type=api_type, base_url=url, price=price, api_keys=())
        meter = gateway.open_run(run_id="r", model=model, run=run)
        received = await talk(port, meter.token)
    await meter.close()
    assert received == directly
    assert [received["limited"]["error"], received["broken"]["error"]] == list(ERRORS[api_type.value])
    assert [received["limited"]["status"], received["broken"]["status"]] == [429, 500]
    if "google" not in api_type.value:
        assert received["limited"]["after"] == "3"
    assert received["cut"]["error"] is not None
    assert "It is a cat." in str(received["after"])
    assert "I see a picture." in str(received["picture"])
    assert len(received["streamed"]) > 6
    metered = meter.metered
    # plain, streamed, tools, after and picture were answered; two failed and one was cut.
    assert (metered.calls, metered.turns, metered.errors) == (8, 5, 3)
    calls = [line for line in read_json_lines(run.llm_calls) if "operation" not in line]
    assert sum(line["cost_usd"] or 0 for line in calls) == pytest.approx(metered.cost_usd)


@pytest.mark.parametrize(("api_type", "talk"), TALKS)
async def test_conversation_is_the_same_in_every_api(
    gateway, new_run, tmp_path: Path, api_type: ApiType, talk: Talk
) -> None:
    from clawbench.models import Model

    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    model = Model(name="m", base_url=f"scripted:{file}", api_type=api_type)
    port, run = await gateway.serve_tcp(), new_run()
    meter = gateway.open_run(run_id="r", model=model, run=run)
    await talk(port, meter.token)
    await meter.close()
    lines = list(read_json_lines(run.messages))
    said = [line["message"] for line in lines if line["type"] == "message"]
    called = next(
        message for message in said if message["role"] == "assistant" and len(message["content"]) > 2
    )
    thinking, text, first, second = called["content"]
    assert thinking == {"type": "thinking", "thinking": "I should look first, and then say what it is."}
    assert text == {"type": "text", "text": "I will look at it, Grüße."}
    assert (first["type"], first["name"], first["arguments"]) == (
        "toolCall",
        "look",
        {"at": "the page", "times": 2},
    )
    assert (second["name"], second["arguments"]) == ("look", {"at": "the end"})
    results = [message for message in said if message["role"] == "toolResult"]
    assert [result["content"] for result in results[:2]] == [[{"type": "text", "text": "found a cat"}]] * 2
    tools = next(line for line in lines if line["type"] == "tools" and line["tools"])
    assert (tools["tools"][0]["name"], tools["tools"][0]["description"]) == ("look", "Looks")
    assert tools["tools"][0]["parameters"]["properties"].keys() == {"at"}
    if talk is not chat:
        assert "Be kind" in [line["text"] for line in lines if line["type"] == "system"]
    kinds = [block["type"] for message in said for block in message["content"]]
    assert "attachment" in kinds
    assert any(line.get("incomplete") for line in lines)


async def test_models_as_each_client_lists_them(gateway, api, new_run, kit) -> None:
    port = await gateway.serve_tcp()
    tokens = {
        kind: gateway.open_run(run_id=kind, model=kit.model_at(api, api_type=kind), run=new_run()).token
        for kind in ApiType
    }
    base = f"http://127.0.0.1:{port}"
    async with openai.AsyncOpenAI(api_key=tokens[ApiType.OPENAI_RESPONSES], base_url=f"{base}/v1") as one:
        assert [model.id async for model in one.models.list()] == ["test-model"]
        assert (await one.models.retrieve("test-model")).id == "test-model"
    async with anthropic.AsyncAnthropic(api_key=tokens[ApiType.ANTHROPIC_MESSAGES], base_url=base) as two:
        assert [model.id async for model in two.models.list()] == ["test-model"]
    options = genai.types.HttpOptions(base_url=base)
    async with genai.Client(api_key=tokens[ApiType.GOOGLE], http_options=options).aio as three:
        assert (await three.models.get(model="test-model")).name == "models/test-model"
    async with anthropic.AsyncAnthropic(api_key="wrong", base_url=base, max_retries=0) as four:
        with pytest.raises(anthropic.AuthenticationError):
            await four.models.list()
