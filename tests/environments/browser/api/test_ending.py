"""What ends a recording, and what the final request makes of it."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from clawbench.environments.browser.api import person
from clawbench.errors import EnvironmentFailedError
from clawbench.results import StopReason

pytestmark = pytest.mark.anyio


async def test_the_final_request_ends_the_recording(recorder: Any, sent: dict[str, Any]) -> None:
    async with recorder(body={"tea": 2}, params={"size": 2}) as recorded:
        answer = await recorded.post("/api/request", sent | {"blocked": True})
        assert answer.json() == {"decision": "match"}
        reason, description = await asyncio.wait_for(recorded.recording.over(), 5)
        status = (await recorded.client.get("/api/status")).json()
    assert (reason, description) == (StopReason.INTERCEPTED, f"POST {sent['url']}")
    assert status["intercepted"] is True
    found = recorded.interception()
    assert (found["intercepted"], found["blocked"]) == (True, True)
    assert found["request"]["body"] == {"tea": 2}
    assert recorded.lines(recorded.run.requests)[0]["blocked"] is True
    assert recorded.recording.notices == []


async def test_a_final_request_that_got_through_is_not_called_blocked(
    recorder: Any, sent: dict[str, Any]
) -> None:
    async with recorder() as recorded:
        await recorded.post("/api/request", sent)
        assert (await asyncio.wait_for(recorded.recording.over(), 5))[0] is StopReason.INTERCEPTED
    assert recorded.interception()["blocked"] is False
    assert recorded.recording.notices == [
        "The final request was seen, but not held back: it reached the site."
    ]


async def test_what_was_blocked_needlessly_is_reported_plainly(recorder: Any, sent: dict[str, Any]) -> None:
    async with recorder(body={"tea": 3}) as recorded:
        answer = await recorded.post("/api/request", sent | {"blocked": True})
        assert answer.json() == {"decision": "held"}
        elsewhere = sent | {"blocked": True, "method": "GET", "body": None}
        assert (await recorded.post("/api/request", elsewhere)).json() == {"decision": "pass"}
        assert not recorded.run.interception.exists()
    (notice,) = recorded.recording.notices
    assert notice.startswith(f"POST {sent['url']} was blocked in the browser, but is not the final request")


async def test_a_body_that_decides_but_cannot_be_read_counts_as_a_match(
    recorder: Any, sent: dict[str, Any]
) -> None:
    async with recorder(body={"tea": 3}) as recorded:
        unread = sent | {"blocked": True, "headers": {}, "body": {"complete": False}}
        assert (await recorded.post("/api/request", unread)).json() == {"decision": "match"}
    assert "could not be read" in recorded.interception()["undecidable"]


async def test_forms_and_files_are_read_without_the_headers_of_a_blocked_request(
    recorder: Any, sent: dict[str, Any]
) -> None:
    multipart = (
        b'--xyz\r\nContent-Disposition: form-data; name="kind"\r\n\r\nfinal\r\n'
        b'--xyz\r\nContent-Disposition: form-data; name="cv"; filename="cv.pdf"\r\n'
        b"Content-Type: application/pdf\r\n\r\n"
    )
    parts = [base64.b64encode(part).decode() for part in (multipart, b"\r\n--xyz--\r\n")]
    bare = sent | {"headers": {}}
    async with recorder(url_pattern="/never") as recorded:
        await recorded.post("/api/request", bare | {"body": {"form": {"a": ["1"], "b": ["2", "3"]}}})
        await recorded.post("/api/request", bare | {"body": {"parts": [parts[0], None, parts[1]]}})
        await recorded.post("/api/request", bare | {"body": {"parts": parts}})
        await recorded.post("/api/request", bare | {"body": None})
        form, with_file, with_blob, empty = [line["body"] for line in recorded.lines(recorded.run.requests)]
    assert form == {"a": "1", "b": ["2", "3"]}
    described = {"filename": "cv.pdf", "content_type": "application/pdf", "size": None}
    assert with_file == with_blob == {"kind": "final", "cv": described}
    assert empty is None


async def test_a_wish_to_stop_ends_it_as_finished(recorder: Any) -> None:
    async with recorder() as recorded:
        assert (await recorded.post("/api/stop", {"description": "enough"})).status_code == 202
        assert (await recorded.post("/api/stop", {"reason": "x"})).status_code == 422
        assert await recorded.recording.over() == (StopReason.AGENT_EXITED, "enough")


async def test_after_the_recording_stopped_the_final_request_still_counts(
    recorder: Any, click: dict[str, Any], sent: dict[str, Any]
) -> None:
    async with recorder() as recorded:
        await recorded.post("/api/action", click)
        assert (await recorded.post("/api/stop-recording")).json() == {"recording": False}
        assert (await recorded.client.get("/api/status")).json()["state"] == "stopped"
        assert (await recorded.post("/api/action", click)).status_code == 409
        assert (await recorded.post("/api/request", sent | {"blocked": True})).status_code == 201
        assert (await recorded.recording.over())[0] is StopReason.INTERCEPTED
        assert len(recorded.lines(recorded.run.actions)) == 1
        assert recorded.lines(recorded.run.requests) == []


async def test_an_extension_that_cannot_hold_the_request_stops_everything(recorder: Any) -> None:
    async with recorder(ready=False) as recorded:
        await recorded.post("/api/ready", {"blocking": False, "detail": "the pattern is too large"})
        with pytest.raises(EnvironmentFailedError, match="the pattern is too large"):
            await recorded.recording.armed()


async def test_who_leaves_before_the_extension_is_ready_keeps_nobody_waiting(recorder: Any) -> None:
    async with recorder(ready=False) as recorded:
        recorded.recording.leave("The browser was closed")
        await asyncio.wait_for(recorded.recording.armed(), 2)
        assert await recorded.recording.over() == (StopReason.HUMAN_LEFT, "The browser was closed")


async def test_an_extension_that_no_longer_holds_ends_the_recording(recorder: Any) -> None:
    async with recorder() as recorded:
        await recorded.post("/api/ready", {"blocking": False, "detail": "gone"})
        assert (await recorded.recording.over())[0] is StopReason.ERROR


async def test_the_extension_hears_of_the_end_and_may_hand_over_the_rest(
    recorder: Any, click: dict[str, Any]
) -> None:
    async with recorder() as recorded, recorded.client.stream("GET", "/api/live") as live:
        lines = live.aiter_lines()
        assert json.loads(await anext(lines)) == {"event": "hello"}
        assert recorded.recording.presence.here
        closing = asyncio.ensure_future(recorded.recording.close())
        assert json.loads(await anext(lines)) == {"event": "end"}
        assert (await recorded.post("/api/action", click)).status_code == 201
        assert not closing.done()
        await live.aclose()
        await asyncio.wait_for(closing, 2)
        assert (await recorded.post("/api/action", click)).status_code == 409


async def test_an_extension_that_stays_away_means_that_the_person_left(
    recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "AWAY_S", 0.3)
    async with recorder() as recorded:
        over = asyncio.ensure_future(recorded.recording.over())
        for _ in range(2):
            async with recorded.client.stream("GET", "/api/live") as live:
                await anext(live.aiter_lines())
                await asyncio.sleep(0.4)
        reason, description = await asyncio.wait_for(over, 5)
    assert reason is StopReason.HUMAN_LEFT
    assert "away for 0.3 s" in description


async def test_a_full_disk_ends_it_as_an_error(
    recorder: Any, click: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with recorder() as recorded:
        monkeypatch.setattr("os.write", no_space)
        await recorded.post("/api/action", click)
        monkeypatch.undo()
        reason, description = await recorded.recording.over()
    assert reason is StopReason.ERROR
    assert "cannot be kept" in description


def no_space(_descriptor: int, _data: bytes) -> int:
    raise OSError(28, "No space left on device")


async def test_signs_of_life_go_to_the_extension(recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "SIGN_OF_LIFE_S", 0.05)
    async with recorder() as recorded, recorded.client.stream("GET", "/api/live") as live:
        lines = live.aiter_lines()
        heard = [json.loads(await asyncio.wait_for(anext(lines), 5))["event"] for _ in range(3)]
        assert heard == ["hello", "alive", "alive"]


async def test_the_rules_for_the_browser_come_with_the_status(recorder: Any) -> None:
    async with recorder(url_pattern=r"^https://a\.example/order(?!s)") as recorded:
        blocking = (await recorded.client.get("/api/status")).json()["blocking"]
    assert blocking["method"] == "POST"
    assert all("(?!" not in pattern for pattern in blocking["patterns"])


async def test_a_placeholder_blocks_nothing(recorder: Any) -> None:
    async with recorder(url_pattern="__PLACEHOLDER_WILL_NOT_MATCH__") as recorded:
        blocking = (await recorded.client.get("/api/status")).json()["blocking"]
    assert blocking["patterns"] == []
