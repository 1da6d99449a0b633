"""How a model is asked when it says that it is too much, and what becomes of a bad key."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest
from pydantic import SecretStr

from clawbench.gateway.keyring import KeyRing
from clawbench.gateway.supply import GROW_AFTER, Supply, seconds_of
from clawbench.results import read_json_lines

pytestmark = pytest.mark.anyio
ONE, TWO = "sk-first-key-0000000", "sk-second-key-000000"


def _ring(*names: str) -> KeyRing:
    return KeyRing([SecretStr(name) for name in names])


def _taken(ring: KeyRing, now: float, times: int) -> list[int]:
    return [taken[0] for _ in range(times) if (taken := ring.take(now))]


def test_keys_in_turn_resting_and_refused() -> None:
    ring = _ring("a", "b", "c")
    assert _taken(ring, 0, 4) == [1, 2, 3, 1]
    ring.rest(2, until=10)
    assert _taken(ring, 5, 3) == [3, 1, 3]
    assert ring.ready_at() == 0
    assert ring.refuse(3, 401) is True
    assert ring.refuse(3, 401) is False
    assert _taken(ring, 5, 2) == [1, 1]
    assert _taken(ring, 10, 3) == [2, 1, 2]
    assert ring.set_aside() == {3: 401}


def test_the_last_key_stays() -> None:
    ring = _ring("a", "b")
    assert ring.refuse(1, 403) is True
    assert ring.refuse(2, 401) is False
    assert _taken(ring, 0, 2) == [2, 2]
    assert KeyRing([]).take(0) is None


def test_when_all_rest_the_first_to_wake_is_taken() -> None:
    ring = _ring("a", "b")
    ring.rest(1, 20)
    ring.rest(2, 10)
    assert ring.ready_at() == 10
    assert _taken(ring, 0, 1) == [2]


def test_retry_after_in_seconds_and_as_a_date() -> None:
    assert [seconds_of(given) for given in ("7", "0.5", None, "-3", "soon")] == [7, 0.5, 0, 0, 0]
    assert 25 < seconds_of(formatdate(time.time() + 30, usegmt=True)) <= 30


async def test_fewer_at_once_after_a_complaint_and_more_again() -> None:
    supply = Supply("m", [])
    passes = [await supply.enter() for _ in range(8)]
    for passed in passes:
        # All eight complain: one step back, not eight.
        supply.heard(passed, 429, None)
    assert supply.limit == 4
    for _ in passes:
        supply.leave()
    held = [asyncio.create_task(supply.enter()) for _ in range(6)]
    async with asyncio.timeout(30):
        await asyncio.gather(*held[:4])
    assert [task.done() for task in held] == [True] * 4 + [False] * 2
    supply.leave()
    async with asyncio.timeout(30):
        await held[4]
    assert not held[5].done()
    held[5].cancel()
    await asyncio.gather(held[5], return_exceptions=True)
    for _ in range(4):
        supply.leave()
    assert supply.under_way == 0
    for _ in range(4 * GROW_AFTER):
        supply.heard(passes[0], 200, None)
    assert supply.limit == 5


async def test_a_waiter_that_gives_up_lets_the_next_go() -> None:
    supply = Supply("m", [])
    supply.limit = 1
    await supply.enter()
    first, second = (asyncio.create_task(supply.enter()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    supply.leave()
    async with asyncio.timeout(30):
        await second
    assert supply.under_way == 1


async def test_retry_after_is_kept_by_all_runs_of_the_model(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(429, b'{"error":{}}', "retry-after: 0.5"), kit.plain(200, kit.completion())]
    run = new_run()
    first = gateway.open_run(run_id="1", model=kit.model_at(api), run=new_run())
    second = gateway.open_run(run_id="2", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, first.token) as one, kit.client_of(gateway, second.token) as two:
        assert (await one.post("/chat/completions", json=kit.ask())).status_code == 429
        began = time.monotonic()
        assert (await two.post("/chat/completions", json=kit.ask(), timeout=30)).status_code == 200
        assert time.monotonic() - began > 0.3
    await second.close()
    [line] = read_json_lines(run.llm_calls)
    assert line["waited_s"] > 0.3


async def test_bad_key_is_set_aside_and_reported(gateway, api, new_run, kit, caplog) -> None:
    api.script = [kit.plain(401, b'{"error":{"message":"bad key"}}'), kit.plain(200, kit.completion())]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_keys=(ONE, TWO)), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        statuses = [(await client.post("/chat/completions", json=kit.ask())).status_code for _ in range(4)]
    await meter.close()
    assert statuses == [401, 200, 200, 200]
    assert [request.headers["authorization"].split("-")[1] for request in api.received] == ["first"] + [
        "second"
    ] * 3
    lines = list(read_json_lines(run.llm_calls))
    assert [line["key"] for line in lines] == [1, 2, 2, 2]
    assert [line.get("key_set_aside") for line in lines] == [True, None, None, None]
    assert "test-model: key 1 of 2 set aside, HTTP 401" in caplog.text
    assert ONE not in caplog.text


async def test_limited_key_rests_while_the_other_works(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(429, b'{"error":{}}', "retry-after: 60"), kit.plain(200, kit.completion())]
    meter = gateway.open_run(run_id="r", model=kit.model_at(api, api_keys=(ONE, TWO)), run=new_run())
    async with kit.client_of(gateway, meter.token) as client, asyncio.timeout(30):
        statuses = [(await client.post("/chat/completions", json=kit.ask())).status_code for _ in range(3)]
    assert statuses == [429, 200, 200]
    assert [request.headers["authorization"].split("-")[1] for request in api.received[1:]] == ["second"] * 2


async def test_run_that_ends_while_its_call_waits(gateway, api, new_run, kit) -> None:
    api.script = [kit.plain(429, b'{"error":{}}', "retry-after: 60")]
    run = new_run()
    meter = gateway.open_run(run_id="r", model=kit.model_at(api), run=run)
    async with kit.client_of(gateway, meter.token) as client:
        await client.post("/chat/completions", json=kit.ask())
        waiting = asyncio.create_task(client.post("/chat/completions", json=kit.ask()))
        changed = asyncio.Event()
        meter._on_change = changed.set
        async with asyncio.timeout(30):
            while not meter.calls_under_way:
                changed.clear()
                await changed.wait()
            await meter.close()
            answer = await waiting
    assert answer.status_code == 503
    assert len(api.received) == 1
    assert [line["aborted_by"] for line in read_json_lines(run.llm_calls)] == [None, "end of run"]
