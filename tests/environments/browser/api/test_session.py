"""The API over an ordinary session: outside tools add to its record; the browser and its pages cannot."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from clawbench.results import Action, read_json_lines

pytestmark = pytest.mark.anyio

TOKEN = SecretStr("the-token-of-this-session")
ALLOWED = {"Authorization": f"Bearer {TOKEN.get_secret_value()}"}


async def test_outside_tools_add_to_a_sessions_record_and_end_it(
    open_session: Any, until: Any, click: dict[str, Any], png: Any
) -> None:
    async with open_session({}, api_port=0, api_token=TOKEN) as opened:
        client = await opened.page_client()
        await client.go("http://shop.example/")
        await until(lambda: opened.run.actions.stat().st_size)
        async with httpx.AsyncClient(base_url=opened.ready.api_url, headers=ALLOWED) as tool:
            assert (await tool.get("/api/status", headers={"Authorization": "Bearer x"})).status_code == 401
            answer = await tool.post("/api/action", json=click | {"timestamp": time.time() * 1000})
            assert answer.status_code == 201
            name = answer.json()["screenshot"]
            added = (await tool.post("/api/screenshot", json={"png": png()})).json()["names"]
            refused = await tool.post("/api/screenshot", json={"png": png(), "names": [name]})
            assert refused.status_code == 409
            for path in ("/api/request", "/api/ready"):
                assert (await tool.post(path, json={})).status_code == 404
            status = (await tool.get("/api/status")).json()
            assert (status["state"], status["intercepted"]) == ("recording", False)

            unasked = f"fetch('{opened.ready.api_url}/api/stop', {{method: 'POST', mode: 'no-cors'}})"
            reached = await client.run(f"{unasked}.then(String, String)")
            assert reached == "TypeError: Failed to fetch"

            stopped = await tool.post("/api/stop-recording", json={})
            assert stopped.json() == {"recording": False}
            assert (await tool.post("/api/action", json=click)).status_code == 409
            assert (await tool.get("/api/status")).json()["state"] == "stopped"
            assert (await tool.post("/api/stop", json={"description": "enough"})).status_code == 202

        events = []
        async for event in opened.session.events():
            events.append((event.event, event.detail))
            if event.event == "stop_requested":
                break
        last = await opened.session.stop("cancelled", "enough")

    assert events[-1] == ("stop_requested", "Stopped through the recorder API: enough")
    assert (
        "notice",
        "The recording was stopped through the recorder API before the session's end.",
    ) in events
    assert last.event == "closed"
    own, outside = [Action.model_validate(line) for line in read_json_lines(opened.run.actions)]
    assert (own.type, own.model_extra.get("source")) == ("pageLoad", None)
    assert (outside.type, outside.model_extra["source"], outside.screenshot) == ("click", "api", name)
    for picture in (name, *added):
        assert (opened.run.screenshots / picture).stat().st_size
    assert opened.run.recording.stat().st_size
