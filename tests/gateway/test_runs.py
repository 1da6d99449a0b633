"""Tokens, budgets, stop signals and the record of a run."""

from __future__ import annotations

import asyncio
import contextlib
import json

import httpx
import pytest

from clawbench.errors import InputError
from clawbench.gateway import BatchBudget, Budget, Gateway
from clawbench.results import StopReason, Usage, read_json_lines

pytestmark = pytest.mark.anyio


async def test_measured_and_priced(gateway, api, new_run, kit) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 30},
        "cost": 0.002,
    }
    api.script = [kit.plain(200, kit.completion("a", usage)), kit.plain(200, kit.completion("b"))]
    run, changes = new_run(), []
    meter = gateway.open_run(
        run_id="r", model=kit.model_at(api), run=run, on_change=lambda: changes.append(meter.calls_under_way)
    )
    before = meter.last_activity
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
        await client.post("/chat/completions", json=kit.ask())
    await meter.close()
    measured = meter.metered
    assert measured.usage == Usage(input=700, cache_read=400, output=70, reasoning=30)
    # (600*2 + 400*0.5 + 50*10)/1e6 = 0.0019; (100*2 + 20*10)/1e6 = 0.0004
    assert measured.cost_usd == pytest.approx(0.0023, abs=1e-15)
    assert (measured.calls, measured.turns, measured.errors, measured.scripted) == (2, 2, 0, False)
    assert measured.latency_s > 0
    assert meter.last_activity > before
    assert changes == [1, 0, 1, 0]
    first, second = read_json_lines(run.llm_calls)
    assert first["usage"] == {
        "input": 600,
        "cache_read": 400,
        "cache_write": 0,
        "output": 50,
        "reasoning": 30,
    }
    assert (first["cost_usd"], first["billed_usd"], second["cost_usd"]) == (0.0019, 0.002, 0.0004)
    assert first["request"] == kit.ask()
    assert first["set"] == {"model": "upstream-name"}
    assert first["response"] == json.loads(kit.completion("a", usage))
    assert (first["status"], first["aborted"], first["scripted"], first["streamed"]) == (
        200,
        False,
        False,
        False,
    )
    assert 0 <= first["ttft_s"] <= first["duration_s"]
    assert first["id"] != second["id"]


async def test_unknown_price_leaves_the_cost_unknown(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, price=None), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
    assert meter.price is None
    assert meter.metered.cost_usd is None
    assert meter.metered.usage.total == 120
    assert next(iter(read_json_lines(run.llm_calls)))["cost_usd"] is None


@pytest.mark.parametrize("token", ["wrong", None])
async def test_no_entry_without_a_token(gateway, api, new_run, kit, token: str | None) -> None:
    gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with kit.client_of(gateway, token or "none") as client:
        if token is None:
            del client.headers["authorization"]
        for answer in (await client.post("/chat/completions", json=kit.ask()), await client.get("/models")):
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == "invalid_api_key"
    assert api.received == []


async def test_tokens_open_their_own_run_until_it_ends(gateway, api, new_run, kit) -> None:
    one = gateway.open_run(run_id="1", model=kit.model_at(api, model="model-one"), run=new_run())
    two = gateway.open_run(run_id="2", model=kit.model_at(api, model="model-two"), run=new_run())
    assert one.token != two.token
    async with kit.client_of(gateway, one.token) as first, kit.client_of(gateway, two.token) as second:
        await first.post("/chat/completions", json=kit.ask("one", model="model-two"))
        await second.post("/chat/completions", json=kit.ask("two"))
        await second.post("/chat/completions", json=kit.ask("two"))
        await one.close()
        assert (await first.post("/chat/completions", json=kit.ask())).status_code == 401
        assert (await second.post("/chat/completions", json=kit.ask())).status_code == 200
    assert [request.body["model"] for request in api.received] == ["model-one"] + ["model-two"] * 3
    assert (one.metered.calls, two.metered.calls) == (1, 3)
    await one.close()


async def test_budget_answers_the_crossing_call_and_refuses_the_next(gateway, api, new_run, kit) -> None:
    run = new_run()
    # Each call costs $0.0004: the third reaches the cap.
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run, budget=Budget(cost_usd=0.001))
    stop = asyncio.create_task(meter.stop_signal())
    async with kit.client_of(gateway, meter.token) as client:
        statuses = [(await client.post("/chat/completions", json=kit.ask())).status_code for _ in range(2)]
        await asyncio.sleep(0)
        assert not stop.done()
        statuses.append((await client.post("/chat/completions", json=kit.ask())).status_code)
        async with asyncio.timeout(5):
            reason, description = await stop
        refused = await client.post("/chat/completions", json=kit.ask())
    assert statuses == [200, 200, 200]
    assert (reason, description) == (StopReason.BUDGET, "cost reached $0.001200 of $0.001")
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "budget_exceeded")
    assert len(api.received) == 3
    assert meter.metered.calls == 3
    assert list(read_json_lines(run.llm_calls))[-1]["refused"] is True


async def test_cost_cap_needs_a_price(gateway, api, new_run, kit) -> None:
    model = kit.model_at(api, price=None)
    with pytest.raises(InputError, match=r"test-model\.price: is unknown, so a cap on cost"):
        gateway.open_run(run_id="r", model=model, run=new_run(), budget=Budget(cost_usd=1))


async def test_token_cap(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run(), budget=Budget(tokens=120))
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
    async with asyncio.timeout(5):
        assert await meter.stop_signal() == (StopReason.BUDGET, "120 of 120 tokens used")


async def test_call_cap_holds_for_calls_at_once(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run(), budget=Budget(calls=3))
    async with kit.client_of(gateway, meter.token) as client:
        answers = await asyncio.gather(*(client.post("/chat/completions", json=kit.ask()) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [402] * 5
    assert len(api.received) == 3
    async with asyncio.timeout(5):
        assert await meter.stop_signal() == (StopReason.BUDGET, "all 3 model calls used")


async def test_call_cap_that_is_just_enough_ends_nothing(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run(), budget=Budget(calls=1))
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(meter.stop_signal(), 0.05)


async def test_model_that_cannot_be_reached_ends_the_run(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(401, b'{"error":{"message":"no such key"}}')]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    stop = asyncio.create_task(meter.stop_signal())
    async with kit.client_of(gateway, meter.token) as client:
        for _ in range(4):
            await client.post("/chat/completions", json=kit.ask())
        await asyncio.sleep(0)
        assert not stop.done()
        await client.post("/chat/completions", json=kit.ask())
    async with asyncio.timeout(5):
        reason, description = await stop
    assert reason is StopReason.MODEL_UNREACHABLE
    assert description == "5 model calls in a row failed, the last with: HTTP 401: no such key"


@pytest.mark.parametrize("begun", [True, False])
async def test_closing_a_run_breaks_off_its_calls(gateway, api, new_run, kit, begun: bool, capfd) -> None:
    piece = kit.event({"choices": [{"index": 0, "delta": {"content": "half"}}]})
    api.script = [kit.endless(piece) if begun else kit.silent()]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client, asyncio.timeout(5):
        request = client.build_request("POST", "/chat/completions", json=kit.ask(stream=True))
        sending = asyncio.create_task(client.send(request, stream=True))
        await api.arrived.wait()
        pieces = (await sending).aiter_raw() if begun else None
        if pieces is not None:
            assert await anext(pieces) == piece
        await meter.close()
        await api.hung_up.wait()
        if pieces is None:
            assert (await sending).status_code == 503
        else:
            with pytest.raises(httpx.RemoteProtocolError):
                await anext(pieces)
        await (await sending).aclose()
    [line] = read_json_lines(run.llm_calls)
    assert (line["aborted"], line["aborted_by"]) == (True, "end of run")
    assert meter.calls_under_way == 0
    assert meter.metered.calls == 1
    messages = list(read_json_lines(run.messages))
    assert messages[0]["type"] == "session"
    assert messages[-1].get("incomplete", False) is begun
    assert capfd.readouterr().err == ""


async def test_closing_at_the_very_start_of_a_call_still_counts_it(gateway, api, new_run, kit) -> None:
    api.script = [kit.silent()]
    run, began = new_run(), asyncio.Event()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run, on_change=began.set)
    async with kit.client_of(gateway, meter.token) as client, asyncio.timeout(5):
        sending = asyncio.create_task(client.post("/chat/completions", json=kit.ask()))
        await began.wait()
        await meter.close()
        assert (await sending).status_code == 503
    [line] = read_json_lines(run.llm_calls)
    assert (line["aborted"], line["usage"], line["status"]) == (True, None, None)
    assert (meter.calls_under_way, meter.metered.calls) == (0, 1)


async def test_unknown_paths_and_bad_bodies_are_refused_and_noted(gateway, api, new_run, kit) -> None:
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        answers = [
            await client.get("/files"),
            await client.get("/chat/completions"),
            await client.post("/chat/completions/", json=kit.ask()),
            await client.post("/chat/completions", content=b"{"),
            await client.post("/chat/completions", content=b"[]"),
            await client.post("/chat/completions", content=b"[" * 100_000),
        ]
        without_prefix = await client.post("http://gateway/chat/completions", json=kit.ask())
    assert [answer.status_code for answer in answers] == [404, 405, 404, 400, 400, 400]
    assert all(answer.json()["error"]["message"] for answer in answers)
    assert without_prefix.status_code == 200
    lines = list(read_json_lines(run.llm_calls))
    assert [line["status"] for line in lines] == [404, 405, 404, 400, 400, 400, 200]
    assert (meter.metered.calls, len(api.received)) == (1, 1)


async def test_models_are_the_one_of_the_run(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run())
    async with kit.client_of(gateway, meter.token) as client:
        listed = (await client.get("/models")).json()
        assert [model["id"] for model in listed["data"]] == ["test-model"]
        assert (await client.get("/models/test-model")).json()["id"] == "test-model"
        assert (await client.get("/models/other")).status_code == 404


async def test_gateway_leaves_no_socket_and_takes_over_a_stale_one(tmp_path) -> None:
    path = tmp_path / "g.sock"
    async with Gateway(path) as first:
        assert path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(InputError, match="cannot be listened on"):
            async with Gateway(path):
                pass
        assert path.is_socket()
        port = await first.serve_tcp()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 401")
        writer.close()
        await writer.wait_closed()
    assert not path.exists()
    import socket

    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    async with Gateway(path):
        pass
    assert not path.exists()


async def test_socket_path_too_long(tmp_path) -> None:
    with pytest.raises(InputError, match="longer than 107 bytes"):
        async with Gateway(tmp_path / ("x" * 120)):
            pass


async def test_leaving_the_gateway_closes_open_runs(tmp_path, api, new_run, kit) -> None:
    run = new_run()
    async with Gateway(tmp_path / "g.sock") as gateway:
        meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
        async with kit.client_of(gateway, meter.token) as client:
            await client.post("/chat/completions", json=kit.ask())
    assert meter.closed
    assert [line["type"] for line in read_json_lines(run.messages)] == ["session", "message", "message"]


async def test_batch_budget_ends_all_its_runs_and_no_other(gateway, api, new_run, kit) -> None:
    batch = BatchBudget(0.001, already_usd=0.0001)
    model = kit.model_at(api)
    one, two = (gateway.open_run(run_id=n, model=model, run=new_run(), batch=batch) for n in "12")
    other = gateway.open_run(run_id="3", model=model, run=new_run())
    statuses = []
    # Each call costs $0.0004, and $0.0001 was spent before: the third reaches the cap.
    for meter in (one, two, one, two, other):
        async with kit.client_of(gateway, meter.token) as client:
            statuses.append((await client.post("/chat/completions", json=kit.ask())).status_code)
    assert statuses == [200, 200, 200, 402, 200]
    said = (StopReason.BUDGET, "the batch's cost reached $0.001300 of $0.001")
    async with asyncio.timeout(5):
        assert await one.stop_signal() == await two.stop_signal() == said
        late = gateway.open_run(run_id="4", model=model, run=new_run(), batch=batch)
        assert await late.stop_signal() == said
    assert other.metered.cost_usd == 0.0004
    with pytest.raises(InputError, match="a cap on cost could not be kept"):
        gateway.open_run(run_id="5", model=kit.model_at(api, price=None), run=new_run(), batch=batch)


@pytest.mark.parametrize("shared", [False, True])
async def test_calls_at_once_do_not_overrun_a_cap(gateway, api, new_run, kit, shared: bool) -> None:
    # Each call costs $0.0004: the third reaches the cap, however many come together.
    caps = {"batch": BatchBudget(0.001)} if shared else {"budget": Budget(cost_usd=0.001)}
    meters = [
        gateway.open_run(run_id=str(n), model=kit.model_at(api), run=new_run(), **caps)
        for n in range(4 if shared else 1)
    ]
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(kit.client_of(gateway, meter.token)) for meter in meters]
        asked = [client.post("/chat/completions", json=kit.ask()) for client in clients for _ in range(5)]
        answers = await asyncio.gather(*asked)
    assert sorted(answer.status_code for answer in answers)[:4] == [200, 200, 200, 402]
    assert len(api.received) == 3
    async with asyncio.timeout(5):
        assert [(await meter.stop_signal())[0] for meter in meters] == [StopReason.BUDGET] * len(meters)


async def test_calls_below_a_distant_cap_go_on_together(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run(), budget=Budget(tokens=10**6))
    api.script = [kit.plain(200, kit.completion()), kit.silent()]
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
        waiting = [asyncio.ensure_future(client.post("/chat/completions", json=kit.ask())) for _ in range(4)]
        async with asyncio.timeout(5):
            while len(api.received) < 5:
                api.arrived.clear()
                await api.arrived.wait()
        await meter.close()
        await asyncio.gather(*waiting)


async def test_run_that_ends_while_a_call_waits_for_room(gateway, api, new_run, kit) -> None:
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=new_run(), budget=Budget(tokens=10))
    api.script = [kit.silent()]
    async with kit.client_of(gateway, meter.token) as client:
        both = [asyncio.ensure_future(client.post("/chat/completions", json=kit.ask())) for _ in range(2)]
        await api.arrived.wait()
        await meter.close()
        async with asyncio.timeout(5):
            statuses = sorted(answer.status_code for answer in await asyncio.gather(*both))
    assert statuses == [401, 503]
    assert len(api.received) == 1
