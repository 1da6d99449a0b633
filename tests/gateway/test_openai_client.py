"""The official client library, unmodified, through the gateway."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from clawbench.models import scripted_model

openai = pytest.importorskip("openai", reason="the openai client library is not installed")
pytestmark = pytest.mark.anyio

POLICY = """
rules:
  - when: {turn: 0}
    text: I will look.
    calls: [{tool: look, arguments: {at: "the page"}}]
  - text: Done.
"""
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def _client(gateway, token: str):
    transport = httpx.AsyncHTTPTransport(uds=str(gateway.socket_path))
    return openai.AsyncOpenAI(
        api_key=token,
        base_url="http://gateway/v1",
        max_retries=0,
        http_client=httpx.AsyncClient(transport=transport),
    )


async def test_plain_streaming_tools_and_models(gateway, new_run, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY)
    meter = gateway.open_run(run_id="r", model=scripted_model("m", tmp_path / "p.yaml"), run=new_run())
    messages = [{"role": "user", "content": "Look at it"}]
    async with _client(gateway, meter.token) as client:
        whole = await client.chat.completions.create(model="x", messages=messages, tools=TOOLS)
        call = whole.choices[0].message.tool_calls[0]
        assert (call.function.name, call.function.arguments) == ("look", '{"at": "the page"}')
        stream = await client.chat.completions.create(model="x", messages=messages, tools=TOOLS, stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
        assert text == "I will look."
        assert [model.id async for model in client.models.list()] == ["m"]
    assert (meter.metered.calls, meter.metered.turns) == (2, 2)


async def test_errors_are_the_clients_own(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(429, b'{"error":{"message":"slow down"}}', "retry-after: 3")]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with _client(gateway, meter.token) as client:
        with pytest.raises(openai.RateLimitError) as caught:
            await client.chat.completions.create(model="x", messages=[{"role": "user", "content": "a"}])
    assert caught.value.response.headers["retry-after"] == "3"
    async with _client(gateway, "wrong") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
