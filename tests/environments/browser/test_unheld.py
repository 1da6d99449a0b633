"""Requests that cannot be the final one are not held; each is logged all the same, once and exactly."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

BINARY = "application/octet-stream"
BYTES = bytes(range(256)) * 1200
SENDING = {
    "/free-small": ("'small'", "small"),
    "/free-json": ("JSON.stringify({a: [1, 'ü']})", {"a": [1, "ü"]}),
    "/free-large": ("'y'.repeat(3000000)", "y" * 3_000_000),
    "/free-binary": (
        "bytes",
        f"data:{BINARY};base64,{base64.b64encode(BYTES).decode()}",
    ),
    "/free-blob": (
        "new Blob([bytes])",
        f"data:{BINARY};base64,{base64.b64encode(BYTES).decode()}",
    ),
    "/free-form": (
        "form",
        {
            "a": "1",
            "u": {"filename": "b.bin", "content_type": "application/octet-stream", "size": len(BYTES)},
        },
    ),
}
SCRIPT = """
bytes = new Uint8Array(256 * 1200).map((_, n) => n % 256);
form = new FormData(); form.append('a', '1'); form.append('u', new File([bytes], 'b.bin'));
"""
ON_LEAVING = """addEventListener('pagehide', () => {
  fetch('/free-kept', {method: 'POST', keepalive: true, body: 'kept'});
  navigator.sendBeacon('/free-beacon', 'beacon');
})"""


async def test_bodies_are_exact_also_where_nobody_holds_the_request(open_session: Any, until: Any) -> None:
    async with open_session({}) as one:
        agent = await one.page_client()
        await agent.go("http://shop.example/")
        await agent.run(SCRIPT)
        for path, (body, _) in SENDING.items():
            await agent.run(f"fetch('{path}', {{method: 'POST', body: {body}}}).then(a => a.text())")
        await until(lambda: len(logged(one, "/free")) == len(SENDING))
        await one.session.stop("agent_exited")
    lines = {line["url"].removeprefix("http://shop.example"): line for line in logged(one, "/free")}
    assert {path: lines[path]["body"] for path in SENDING} == {
        path: body for path, (_, body) in SENDING.items()
    }
    assert {line["status"] for line in lines.values()} == {404}
    assert not any("body_incomplete" in line for line in lines.values())


@pytest.mark.parametrize("way", ["navigate", "close"])
async def test_what_a_page_sends_with_its_last_breath_is_logged(
    open_session: Any, until: Any, way: str
) -> None:
    async with open_session({}) as one:
        agent = await one.page_client()
        target = (await agent("Target.createTarget", url="http://shop.example/frame"))["targetId"]
        page = await one.page_client(target)
        await until(lambda: one.site.got("/frame"))
        await page.go("http://shop.example/frame")
        await page.run(ON_LEAVING)
        if way == "navigate":
            await page("Page.navigate", url="http://shop.example/")
        else:
            await agent("Target.closeTarget", targetId=target)
        await until(lambda: one.site.got("/free-kept") and one.site.got("/free-beacon"))
        await until(lambda: len(logged(one, "/free")) >= 2)
        await one.session.stop("agent_exited")
    sent = Counter((line["url"], line["body"]) for line in logged(one, "/free"))
    assert sent == {
        ("http://shop.example/free-kept", "kept"): 1,
        ("http://shop.example/free-beacon", "beacon"): 1,
    }


async def test_what_a_popup_sends_before_it_closes_itself_is_logged(open_session: Any, until: Any) -> None:
    async with open_session({}) as one:
        agent = await one.page_client()
        await agent.go("http://shop.example/")
        await agent.run(
            f"popup = open('/frame'); popup.onload = () => {{ popup.eval({ON_LEAVING!r}); popup.close() }}"
        )
        await until(lambda: one.site.got("/free-kept") and one.site.got("/free-beacon"))
        await until(lambda: len(logged(one, "/free")) >= 2)
        await one.session.stop("agent_exited")
    assert sorted(line["body"] for line in logged(one, "/free")) == ["beacon", "kept"]


async def test_what_the_agent_makes_of_a_request_is_logged(open_session: Any, until: Any) -> None:
    async with open_session({}) as one:
        agent = await one.page_client()
        await agent.go("http://shop.example/")
        await agent("Fetch.enable", patterns=[{"urlPattern": "*/free*"}])
        asked = agent.run("fetch('/free-asked', {method: 'POST', body: 'asked'}).then(a => a.status)")
        answering = asyncio.ensure_future(asked)
        await until(lambda: any(event["method"] == "Fetch.requestPaused" for event in agent.events))
        paused = next(event for event in agent.events if event["method"] == "Fetch.requestPaused")
        changed = base64.b64encode(b"changed").decode()
        await agent("Fetch.continueRequest", requestId=paused["params"]["requestId"], postData=changed)
        await answering
        await one.session.stop("agent_exited")
    assert [arrived.body for arrived in one.site.got("/free-asked")] == [b"changed"]
    assert [line["body"] for line in logged(one, "/free-asked")] == ["asked", "changed"]


def logged(one: Any, fragment: str) -> list[dict[str, Any]]:
    return [line for line in one.requests() if fragment in line["url"] and line["method"] == "POST"]
