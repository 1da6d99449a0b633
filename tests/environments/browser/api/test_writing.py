"""What is taken into the record, and what is refused with a reason."""

from __future__ import annotations

import asyncio
import base64
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from clawbench.environments.browser.recorder import MASK
from clawbench.results import Action, RequestEntry

pytestmark = pytest.mark.anyio


async def test_actions_become_lines_like_the_recorders_own(recorder: Any, click: dict[str, Any]) -> None:
    before = int(time.time() * 1000)
    async with recorder() as recorded:
        first = await recorded.post("/api/action", click | {"timestamp": before, "frame": "3.0"})
        second = await recorded.post("/api/action", click | {"timestamp": before, "frame": "3.0"})
        assert first.json() == {"screenshot": f"{before}.png"}
        assert second.json() == {"screenshot": f"{before}-2.png"}
        lines = recorded.lines(recorded.run.actions)
        status = (await recorded.client.get("/api/status")).json()
    assert lines[0] == {
        **{"type": "click", "timestamp": before, "url": "https://a.example/", "target": click["target"]},
        **{"x": 1, "y": 2, "trusted": True, "frame": "3.0", "screenshot": f"{before}.png"},
    }
    for line in lines:
        Action.model_validate(line)
    assert (status["state"], status["actions"], status["task"]) == ("recording", 2, "s/t")


async def test_passwords_are_masked_and_long_texts_cut(recorder: Any, click: dict[str, Any]) -> None:
    typed = {**click, "type": "input", "value": "v" * 300, "title": "t" * 300}
    typed["target"] = click["target"] | {"textContent": "x" * 300}
    async with recorder() as recorded:
        await recorded.post("/api/action", typed)
        await recorded.post("/api/action", typed | {"secret": True})
        await recorded.post("/api/action", {**click, "type": "keydown", "key": "p", "secret": True})
        plain, secret, key = recorded.lines(recorded.run.actions)
    assert (len(plain["value"]), len(plain["title"]), len(plain["target"]["textContent"])) == (200, 200, 100)
    assert (secret["value"], key["key"]) == (MASK, MASK)
    assert "secret" not in secret


async def test_times_are_believed_only_where_they_can_be_true(recorder: Any, click: dict[str, Any]) -> None:
    now = int(time.time() * 1000)
    async with recorder() as recorded:
        for timestamp in (now, 1, now + 3_600_000, now - 500):
            await recorded.post("/api/action", click | {"timestamp": timestamp})
        times = [line["timestamp"] for line in recorded.lines(recorded.run.actions)]
    assert times[0] == now
    assert times == sorted(times)
    assert all(now <= moment <= now + 30_000 for moment in times)


WRONG_ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("type", {"type": "hover"}),
    ("key", {"type": "keydown"}),
    ("x", {"x": None}),
    ("target", {"target": None}),
    ("target.tagName", {"target": {"id": "a"}}),
    ("timestamp", {"timestamp": "yesterday"}),
    ("timestamp", {"timestamp": -1}),
    ("timestamp", {"timestamp": "5"}),
    ("timestamp", {"timestamp": True}),
    ("x: ", {"x": True}),
    ("x: ", {"x": "12"}),
    ("x: ", {"x": 10**400}),
    ("y: ", {"y": -1.5e9}),
    ("scrollX: ", {"scrollX": False}),
    ("scrollY: ", {"scrollY": 2_000_000_000}),
    ("url", {"url": 7}),
    ("url", {"url": "h" * 70_000}),
    ("screenshot", {"screenshot": "../../etc/passwd"}),
    ("value", {"value": {"nested": True}}),
]


async def test_an_action_that_is_not_in_order_leaves_no_trace(recorder: Any, click: dict[str, Any]) -> None:
    async with recorder() as recorded:
        for reason, change in WRONG_ACTIONS:
            answer = await recorded.post("/api/action", click | change)
            assert answer.status_code == 422, change
            assert reason in answer.json()["error"]
        assert recorded.written() == []


async def test_bodies_are_json_of_a_sane_size(recorder: Any, click: dict[str, Any]) -> None:
    async with recorder() as recorded:
        client = recorded.client
        json = {"Content-Type": "application/json"}
        assert (await client.post("/api/action", content=b"{", headers=json)).status_code == 422
        assert (await client.post("/api/action", content=b"[]", headers=json)).status_code == 422
        lonely = b'{"type": "click", "url": "\\ud800"}'
        assert (await client.post("/api/action", content=lonely, headers=json)).status_code == 422
        endless = b'{"type": "click", "x": NaN}'
        assert (await client.post("/api/action", content=endless, headers=json)).status_code == 422
        assert (await client.post("/api/action", data=click)).status_code == 415
        assert (await recorded.post("/api/action", {"url": "x" * 300_000})).status_code == 413
        assert recorded.written() == []


async def test_a_picture_belongs_to_the_actions_that_wait_for_it(
    recorder: Any, click: dict[str, Any], png: Any
) -> None:
    async with recorder() as recorded:
        names = [(await recorded.post("/api/action", click)).json()["screenshot"] for _ in range(3)]
        kept = await recorded.post("/api/screenshot", {"png": png(), "names": names[:2]})
        assert (kept.status_code, kept.json()) == (201, {"names": names[:2]})
        again = await recorded.post("/api/screenshot", {"png": png(colour="blue"), "names": names[:1]})
        assert again.status_code == 409
        free = await recorded.post("/api/screenshot", {"png": f"data:image/png;base64,{png(9, 9)}"})
        (own,) = free.json()["names"]
        assert own not in names
    sizes = {path.name: size_of(path) for path in recorded.run.screenshots.iterdir()}
    assert sizes == {**dict.fromkeys(names, (4, 3)), own: (9, 9)}
    assert recorded.recording.notices == []


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


async def test_without_any_picture_the_record_says_so(recorder: Any, click: dict[str, Any]) -> None:
    async with recorder() as recorded:
        await recorded.post("/api/action", click)
    assert recorded.recording.notices == ["1 actions have no screenshot: the browser gave none."]


async def test_only_whole_pngs_are_pictures(recorder: Any, png: Any) -> None:
    whole = base64.b64decode(png(100, 100))
    bomb = base64.b64decode(png())[:16] + (60_000).to_bytes(4) * 2 + base64.b64decode(png())[24:]
    wrong = [whole[:-20], whole[:60] + b"\0" * 8 + whole[68:], b"GIF89a", b"", bomb]
    async with recorder() as recorded:
        for data in wrong:
            answer = await recorded.post("/api/screenshot", {"png": base64.b64encode(data).decode()})
            assert answer.status_code == 422, data[:10]
            assert "PNG" in answer.json()["error"] or "pixels" in answer.json()["error"]
        assert (await recorded.post("/api/screenshot", {"png": "§"})).status_code == 422
        climbing = {"png": png(), "names": ["../../run.json"]}
        assert (await recorded.post("/api/screenshot", climbing)).status_code == 409
        assert recorded.written() == []


async def test_requests_become_lines_in_the_published_shape(recorder: Any, sent: dict[str, Any]) -> None:
    async with recorder(url_pattern="/never") as recorded:
        assert (await recorded.post("/api/request", sent)).json() == {"decision": "pass"}
        (line,) = recorded.lines(recorded.run.requests)
    RequestEntry.model_validate(line)
    assert abs(line.pop("timestamp") - time.time()) < 30
    assert line == {
        **{"url": sent["url"], "method": "POST", "body": {"tea": 2}, "query_params": {"size": "2"}},
        **{"headers": {"Content-Type": "application/json", "Cookie": MASK}},
        **{"resource_type": "XHR", "id": "7", "frame": None},
    }


WRONG_REQUESTS: list[dict[str, Any]] = [
    {"url": "chrome-extension://abc/x"},
    {"url": "file:///etc/passwd"},
    {"method": "PO ST"},
    {"resource_type": "<b>"},
    {"headers": {"A": 1}},
    {"body": {"parts": ["§"]}},
    {"body": "text"},
    {"timestamp": None},
]


async def test_a_request_that_is_not_in_order_leaves_no_trace(recorder: Any, sent: dict[str, Any]) -> None:
    async with recorder() as recorded:
        for change in WRONG_REQUESTS:
            answer = await recorded.post("/api/request", sent | change)
            assert answer.status_code == 422, change
            assert next(iter(change)) in answer.json()["error"]
        assert recorded.written() == []


async def test_nothing_is_recorded_before_the_extension_is_ready_or_after_the_end(
    recorder: Any, click: dict[str, Any], sent: dict[str, Any], png: Any
) -> None:
    messages = {"action": click, "request": sent, "screenshot": {"png": png()}}
    async with recorder(ready=False) as recorded:
        for name, message in messages.items():
            assert (await recorded.post(f"/api/{name}", message)).status_code == 409
        assert (await recorded.post("/api/ready", {"blocking": True})).status_code == 200
        await asyncio.wait_for(recorded.recording.armed(), 5)
        assert (await recorded.post("/api/action", click)).status_code == 201
        await recorded.recording.close()
        for name, message in messages.items():
            assert (await recorded.post(f"/api/{name}", message)).status_code == 409
        assert len(recorded.lines(recorded.run.actions)) == 1
