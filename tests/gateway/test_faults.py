"""A scripted model that fails on demand, in every API."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawbench.errors import InputError
from clawbench.gateway import Gateway, Meter, load_policy
from clawbench.models import ApiType, Model
from clawbench.results import Usage, read_json_lines

pytestmark = pytest.mark.anyio

PATHS = {
    ApiType.OPENAI_COMPLETIONS: "/v1/chat/completions",
    ApiType.OPENAI_RESPONSES: "/v1/responses",
    ApiType.ANTHROPIC_MESSAGES: "/v1/messages",
    ApiType.GOOGLE: "/v1beta/models/m:generateContent",
}
EVERY = pytest.mark.parametrize("api_type", list(ApiType), ids=lambda kind: kind.value)


def _body(api_type: ApiType, text: str = "Hi") -> dict[str, Any]:
    if api_type is ApiType.GOOGLE:
        return {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    if api_type is ApiType.OPENAI_RESPONSES:
        return {"input": text}
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 9}


class Faulty:
    """A run whose scripted model has faults."""

    def __init__(self, gateway: Gateway, run: Any, api_type: ApiType, file: Path, policy: str) -> None:
        file.write_text(policy)
        model = Model(name="m", base_url=f"scripted:{file}", api_type=api_type)
        self.api_type, self.run, self.gateway = api_type, run, gateway
        self.meter: Meter = gateway.open_run(run_id="r", model=model, run=run)

    async def ask(self, text: str = "Hi", *, stream: bool = False) -> httpx.Response:
        transport = httpx.AsyncHTTPTransport(uds=str(self.gateway.socket_path))
        headers = {"authorization": f"Bearer {self.meter.token}"}
        path, body = PATHS[self.api_type], _body(self.api_type, text)
        if stream and self.api_type is ApiType.GOOGLE:
            path = path.replace("generateContent", "streamGenerateContent?alt=sse")
        elif stream:
            body["stream"] = True
        async with httpx.AsyncClient(transport=transport, timeout=60) as client:
            return await client.post(f"http://gateway{path}", json=body, headers=headers)

    async def lines(self) -> list[dict[str, Any]]:
        await self.meter.close()
        return list(read_json_lines(self.run.llm_calls))


@EVERY
async def test_errors_at_certain_calls(gateway, new_run, tmp_path: Path, api_type: ApiType) -> None:
    policy = """
faults:
  - {call: 1, status: 429, retry_after: 2}
  - {call: 3, status: 529}
rules: [{text: Fine.}]
"""
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", policy)
    answers = [await faulty.ask() for _ in range(4)]
    assert [answer.status_code for answer in answers] == [429, 200, 529, 200]
    assert answers[0].headers["retry-after"] == "2"
    assert answers[0].json()["error"]["message"] == "Scripted fault: HTTP 429."
    assert "Fine." in answers[1].text
    assert [line["error"] for line in await faulty.lines()][::2] == [
        "HTTP 429: Scripted fault: HTTP 429.",
        "HTTP 529: Scripted fault: HTTP 529.",
    ]


@EVERY
async def test_fault_of_a_rule_that_wears_off(gateway, new_run, tmp_path: Path, api_type: ApiType) -> None:
    policy = "rules: [{text: Fine., fault: {status: 500, times: 2}}]"
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", policy)
    assert [(await faulty.ask()).status_code for _ in range(3)] == [500, 500, 200]


@EVERY
@pytest.mark.parametrize("stream", [False, True])
async def test_cut_answers(gateway, new_run, tmp_path: Path, api_type: ApiType, stream: bool) -> None:
    policy = f"rules: [{{text: {'word ' * 60}, fault: {{cut_after: 6}}}}]"
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", policy)
    with pytest.raises(httpx.RemoteProtocolError):
        await faulty.ask(stream=stream)
    [line] = await faulty.lines()
    assert line["error"] == "a scripted fault cut the answer here"
    assert line["usage_estimated"] is True
    assert (faulty.meter.metered.errors, faulty.meter.metered.turns) == (1, 0)
    if stream:
        assert 0 < line["usage"]["output"] < 75


@EVERY
@pytest.mark.parametrize("stream", [False, True])
async def test_malformed_tool_calls(
    gateway, new_run, tmp_path: Path, api_type: ApiType, stream: bool
) -> None:
    policy = "rules: [{calls: [{tool: go, arguments: {to: home}}], fault: {malformed_call: true}}]"
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", policy)
    answer = await faulty.ask(stream=stream)
    await faulty.meter.close()
    if api_type is ApiType.GOOGLE:
        assert "MALFORMED_FUNCTION_CALL" in answer.text
        return
    said = [line["message"] for line in read_json_lines(faulty.run.messages) if line["type"] == "message"]
    assert said[-1]["content"][-1]["arguments"] == '{"to": "home"'


@EVERY
@pytest.mark.parametrize("stream", [False, True])
async def test_wrong_usage(gateway, new_run, tmp_path: Path, api_type: ApiType, stream: bool) -> None:
    policy = (
        "rules: [{text: Fine., fault: {usage: {input: 900, cache_read: 100, output: 70, reasoning: 20}}}]"
    )
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", policy)
    await faulty.ask(stream=stream)
    await faulty.meter.close()
    assert faulty.meter.metered.usage == Usage(input=900, cache_read=100, output=70, reasoning=20)


@EVERY
async def test_huge_output(gateway, new_run, tmp_path: Path, api_type: ApiType) -> None:
    policy = "rules: [{fault: {characters: 2000000}}]"
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", policy)
    answer = await faulty.ask(stream=True)
    [line] = await faulty.lines()
    assert len(answer.content) > 2_000_000
    assert line["usage"]["output"] == 500_000
    assert line["response"] == answer.text
    said = [each["message"] for each in read_json_lines(faulty.run.messages) if each["type"] == "message"]
    assert len(said[-1]["content"][0]["text"]) == 2_000_000


async def test_delay(gateway, new_run, tmp_path: Path) -> None:
    policy = "rules: [{text: Late., fault: {delay_s: 0.2}}]"
    faulty = Faulty(gateway, new_run(), ApiType.OPENAI_COMPLETIONS, tmp_path / "p.yaml", policy)
    began = time.monotonic()
    assert "Late." in (await faulty.ask()).text
    assert time.monotonic() - began >= 0.2


@EVERY
async def test_counting_tokens(gateway, new_run, tmp_path: Path, api_type: ApiType) -> None:
    places = {
        ApiType.ANTHROPIC_MESSAGES: ("/v1/messages/count_tokens", "input_tokens"),
        ApiType.GOOGLE: ("/v1beta/models/m:countTokens", "totalTokens"),
    }
    if api_type not in places:
        pytest.skip("this API counts no tokens")
    path, name = places[api_type]
    faulty = Faulty(gateway, new_run(), api_type, tmp_path / "p.yaml", "rules: [{text: Fine.}]")
    transport = httpx.AsyncHTTPTransport(uds=str(gateway.socket_path))
    async with httpx.AsyncClient(transport=transport) as client:
        headers = {"x-api-key": faulty.meter.token}
        answer = await client.post(f"http://gateway{path}", json=_body(api_type, "x" * 400), headers=headers)
    assert 100 < answer.json()[name] < 130


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("{}", "does nothing"),
        ("{times: 3}", "does nothing"),
        ("{status: 200}", "greater than or equal to 400"),
        ("{retry_after: 3, delay_s: 1}", "retry_after needs a status"),
        ("{explode: true}", "is not a known field"),
        ("{status: 500, times: 1}", "says nothing"),
    ],
)
async def test_policies_with_impossible_faults(tmp_path: Path, fault: str, problem: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(json.dumps({"rules": [{"fault": None}]}).replace("null", fault.replace(":", ": ")))
    with pytest.raises(InputError, match=problem):
        load_policy(file)
