"""A planted key is nowhere but in the request to the model's API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging

import httpx
import pytest

from clawbench.errors import InputError

pytestmark = pytest.mark.anyio


async def test_planted_key_is_found_nowhere(gateway, api, new_run, kit, caplog, capfd) -> None:
    caplog.set_level(logging.DEBUG)
    key = kit.KEY
    half = key[:9].encode(), key[9:].encode()
    api.script = [
        kit.plain(401, f'{{"error":{{"message":"Incorrect API key: {key}"}}}}'.encode(), f"x-echo: {key}"),
        kit.plain(500, b"Authorization: Bearer " + key.encode(), "content-type: text/plain"),
        kit.streamed(b'data: {"choices":[{"index":0,"delta":{"content":"' + half[0], half[1] + b'"}}]}\n\n'),
        kit.cut_after(b"data: " + key.encode()),
        kit.plain(200, kit.completion(f"You sent {key}")),
    ]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    seen = [repr(meter), repr(meter.upstream), repr(vars(meter)), repr(gateway), repr(vars(gateway))]
    async with kit.client_of(gateway, meter.token) as client:
        for _ in range(5):
            with contextlib.suppress(httpx.RemoteProtocolError):
                answer = await client.post("/chat/completions", json=kit.ask(f"my key is {key}", stream=True))
                seen += [answer.text, str(answer.headers)]
    await meter.close()
    assert all(request.headers["authorization"] == f"Bearer {key}" for request in api.received)
    assert len(api.received) == 5
    assert "*" * len(key) in "".join(seen)
    seen += [file.read_text() for file in run.path.rglob("*") if file.is_file()]
    seen += [caplog.text, *capfd.readouterr(), str(meter.last_failure), str(meter.metered)]
    assert not [text for text in seen if key in text]


async def test_blanks_around_a_key_are_taken_off(gateway, api, new_run, kit) -> None:
    model = kit.model_at(api, api_keys=(f" {kit.KEY}\n",))
    meter = gateway.open_run(run_id="r", model=model, run=new_run())
    api.script = [kit.plain(401, kit.KEY.encode())]
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert api.received[0].headers["authorization"] == f"Bearer {kit.KEY}"
    assert answer.text == "*" * len(kit.KEY)


@pytest.mark.parametrize("spoil", ["{}\nx", "{}é", "\x00{}", " "])
async def test_key_that_cannot_be_sent_is_refused_unseen(gateway, api, new_run, kit, spoil: str) -> None:
    model = kit.model_at(api, api_keys=(spoil.format(kit.KEY),))
    with pytest.raises(InputError, match=r"test-model\.api_key: holds characters") as caught:
        gateway.open_run(run_id="r", model=model, run=new_run())
    assert kit.KEY not in str(caught.value)


@pytest.mark.parametrize("url", ["api.example.com/v1", "ftp://x/v1", "http://", "http://x:port/v1"])
async def test_address_that_cannot_be_used(gateway, api, new_run, kit, url: str) -> None:
    with pytest.raises(InputError, match=r"test-model\.base_url: is no http or https address"):
        gateway.open_run(run_id="r", model=kit.model_at(api, base_url=url), run=new_run())


async def test_gateway_that_fails_inside_shows_no_key(
    gateway, api, new_run, kit, caplog, monkeypatch
) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())

    async def explode(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(meter.upstream, "send", explode)
    async with kit.client_of(gateway, meter.token) as client:
        answer = await client.post("/chat/completions", json=kit.ask())
    assert answer.status_code == 500
    assert kit.KEY not in caplog.text + answer.text
    assert (meter.calls_under_way, meter.metered.errors) == (0, 1)


async def test_token_closed_while_the_body_arrives(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    reader, writer = await asyncio.open_unix_connection(str(gateway.socket_path))
    body = json.dumps(kit.ask()).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nauthorization: Bearer {meter.token}\r\n"
    writer.write(f"{head}expect: 100-continue\r\ncontent-length: {len(body)}\r\n\r\n".encode())
    async with asyncio.timeout(5):
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        await meter.close()
        writer.write(body)
        await reader.readline()
        assert (await reader.readline()).startswith(b"HTTP/1.1 401")
    writer.close()
    await writer.wait_closed()
    assert api.received == []
