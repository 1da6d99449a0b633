"""The gate, checked at the server: what matches never arrives, the rest does, and all is logged."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from clawbench.results import StopReason

pytestmark = pytest.mark.anyio

POST = "fetch('{url}', {{method: 'POST', body: '{tag}', mode: 'no-cors'}}).catch(() => 0)"


def post(tag: str, url: str = "/order") -> str:
    return POST.format(url=url, tag=tag)


def other_frame(name: str) -> str:
    """A frame for the form's answer: in one and the same, the browser lets the later form win."""
    return f"o = document.createElement('iframe'); o.name = f.target = '{name}'; document.body.append(o)"


WAYS = {
    "fetch": post("fetch"),
    "xhr": "x = new XMLHttpRequest(); x.open('POST', '/order'); x.send('xhr')",
    "beacon": "navigator.sendBeacon('/order', 'beacon')",
    "blob": "fetch('/order', {method: 'POST', body: new Blob(['bl', 'ob'])}).catch(() => 0)",
    "big": "fetch('/order', {method: 'POST', body: 'big' + 'x'.repeat(12e6)}).catch(() => 0)",
    "redirect307": post("redirect307", "/to/307"),
    "redirect308": post("redirect308", "/to/308"),
    "dedicated": f"w = new Worker('/worker.js'); w.postMessage({post('dedicated', 'http://localhost/order')!r})",
    "shared": f"s = new SharedWorker('/shared.js'); s.port.postMessage({post('shared', 'http://localhost/order')!r})",
    "service": "navigator.serviceWorker.ready.then(r => r.active.postMessage("
    f"{post('service', 'http://localhost/order')!r}))",
    "forwarded": "fetch('/free?forward=/order').catch(() => 0)",
    "ping": "a = document.createElement('a'); a.href = '#'; a.ping = '/order?ping';"
    " document.body.append(a); a.click()",
    "frame": f"frames.inner.eval({post('frame')!r})",
    "popup": f"p = open('/frame'); p.onload = () => p.eval({post('popup')!r})",
    "form": "f = document.createElement('form'); f.method = 'POST'; f.action = '/order'; f.target = 'inner';"
    " f.innerHTML = '<input name=way value=form>'; document.body.append(f); f.submit()",
    "multipart": f"{other_frame('second')}; f.enctype = 'multipart/form-data';"
    " f.elements[0].value = 'multipart'; f.submit()",
    "plain": f"{other_frame('third')}; f.enctype = 'text/plain'; f.elements[0].value = 'plain'; f.submit()",
    "blank": "f.target = '_blank'; f.elements[0].value = 'blank'; f.submit()",
    "cross site": "i = document.createElement('iframe'); i.src = 'http://other.example/frame';"
    " document.body.append(i); new Promise(done => i.onload = done)",
}


UNLOAD = (
    "q = open('/frame'); new Promise(done => q.onload = done).then(() => {"
    " q.eval(\"onpagehide = () => { navigator.sendBeacon('/order', 'beacon at unload');"
    " fetch('/order', {method: 'POST', keepalive: true, body: 'fetch at unload'}) }\"); q.close() })"
)
"""Sent where no service worker is: under one, the browser itself drops what a closing page sends."""


def tags(entries: list[dict[str, Any]]) -> set[str]:
    """What was posted to /order, by the first letters of its body."""
    found = set()
    for entry in entries:
        if entry["method"] == "POST" and "/order" in entry["url"]:
            body = entry["body"]
            body = body["way"] if isinstance(body, dict) else str(body)
            found.add("ping" if "?ping" in entry["url"] else body.rstrip("x"))
    return found


async def test_every_way_of_sending_is_blocked_and_logged(open_session: Any, until: Any) -> None:
    async with open_session({}) as opened:
        agent = await opened.page_client()
        await agent.go("http://localhost/")
        await agent.run(
            "navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready)"
        )
        await agent.go("http://localhost/")
        for way in WAYS.values():
            await agent.run(f"{way}; 0" if "Promise" not in way else way)
        await agent("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        attached = await until(
            lambda: [
                e
                for e in agent.events
                if e["method"] == "Target.attachedToTarget"
                and "other.example" in e["params"]["targetInfo"]["url"]
            ]
        )
        frame = attached[0]["params"]["sessionId"]
        await agent.run(f"{post('cross site')}; 0", session=frame)
        await agent.go("http://shop.example/")
        await agent.run(UNLOAD)
        expected = {*WAYS, "beacon at unload", "fetch at unload"}
        await until(
            lambda: not expected - tags(opened.requests()), show=lambda: expected - tags(opened.requests())
        )
        await agent.run(
            "document.body.innerHTML = '<textarea autofocus>'; document.querySelector('textarea').focus()"
        )
        await agent("Input.insertText", text="some wrods to spell")
        last = await opened.session.stop(StopReason.AGENT_EXITED, "done")
        assert "egress refused" not in opened.log.read_text(), "the browser called somebody by itself"
        assert last.event == "closed"
        assert opened.site.got("/order", "POST") == []
        redirected = [one.path for one in opened.site.arrived if one.path.startswith("/to/")]
        assert sorted(redirected) == ["/to/307", "/to/308"]  # each on a connection of its own
        assert opened.interception()["request"]["body"] in ("fetch", "xhr")
        assert opened.run.recording.stat().st_size > 0


async def test_what_does_not_match_passes_untouched(open_session: Any, until: Any) -> None:
    packed = list(gzip.compress(b'{"kind": "final"}'))
    async with open_session({"body": {"kind": "final"}, "params": {"v": 1}}) as opened:
        agent = await opened.page_client()
        await agent.go("http://shop.example/")
        await agent.run("fetch('/order?v=1', {method: 'PUT', body: '{\"kind\": \"final\"}'})")
        await agent.run("fetch('/order?v=2', {method: 'POST', body: '{\"kind\": \"final\"}'})")
        await agent.run("fetch('/order?v=1', {method: 'POST', body: '{\"kind\": \"draft\"}'})")
        await agent.run("fetch('/free?v=1', {method: 'POST', body: '{\"kind\": \"final\"}'})")
        bodies = [(one.method, one.path, one.body) for one in opened.site.arrived if one.body]
        assert bodies == [
            ("PUT", "/order?v=1", b'{"kind": "final"}'),
            ("POST", "/order?v=2", b'{"kind": "final"}'),
            ("POST", "/order?v=1", b'{"kind": "draft"}'),
            ("POST", "/free?v=1", b'{"kind": "final"}'),
        ]
        assert not opened.run.interception.exists()
        sent = "fetch('/order?v=1', {method: 'POST', headers: {'content-encoding': 'gzip'}, "
        await agent.run(sent + f"body: new Uint8Array({packed})}}).catch(() => 0)")
        assert opened.interception()["request"]["body"] == {"kind": "final"}
        assert opened.interception()["request"]["params"] == {"v": "1"}
        await opened.session.stop(StopReason.INTERCEPTED, "done")
        assert len(opened.site.got("/order")) == 3
        logged = [e for e in opened.requests() if e["resource_type"] == "Fetch"]
        assert [(e["method"], e["body"]) for e in logged] == [
            ("PUT", {"kind": "final"}),
            ("POST", {"kind": "final"}),
            ("POST", {"kind": "draft"}),
            ("POST", {"kind": "final"}),
            ("POST", {"kind": "final"}),
        ]


async def test_an_unreadable_body_is_blocked_as_undecidable(open_session: Any, tmp_path: Path) -> None:
    file = tmp_path / "resume.pdf"
    file.write_bytes(b"%PDF")
    async with open_session({"body": {"other": "x"}}, uploads={"/my-info/resume.pdf": file}) as opened:
        agent = await opened.page_client()
        await agent.go("http://shop.example/upload")
        root = (await agent("DOM.getDocument"))["root"]["nodeId"]
        node = (await agent("DOM.querySelector", nodeId=root, selector="#file"))["nodeId"]
        await agent("DOM.setFileInputFiles", files=["/my-info/resume.pdf"], nodeId=node)
        send = "fetch('/order', {method: 'POST', body: new FormData(document.forms[0])})"
        assert await agent.run(f"{send}.then(() => 'sent', () => 'blocked')") == "blocked"
        found = opened.interception()
        assert "undecidable" in found
        assert found["request"]["body"] == {
            "file": {"filename": "resume.pdf", "content_type": "application/pdf", "size": None},
            "kind": "final",
        }
        await opened.session.stop(StopReason.INTERCEPTED)
        assert opened.site.got("/order") == []


@pytest.mark.parametrize("way", ["killed", "parent gone"])
async def test_the_end_of_the_session_releases_nothing(
    open_session: Any, until: Any, descendants: Any, alive: Any, way: str
) -> None:
    """Requests are held by the browser while the session stands still; then the session is gone."""
    async with open_session({}) as opened:
        agent = await opened.page_client()
        await agent.go("http://shop.example/")
        await agent.run("fetch('/free')")
        tree = descendants(opened.session.pid)
        sending = "for (let n = 0; n < 20; n++) { fetch('/order', {method: 'POST', body: '' + n});"
        await agent.run(f"setTimeout(() => {{ {sending} navigator.sendBeacon('/order', 'b') }} }}, 200); 0")
        if way == "killed":
            os.kill(opened.session.pid, signal.SIGSTOP)
            await asyncio.sleep(0.6)
            os.kill(opened.session.pid, signal.SIGKILL)
        else:
            opened.session._process.stdin.close()
        await until(lambda: not alive(tree), within_s=3)
        assert opened.site.got("/order") == []
        scratch = opened.config.scratch / "session"
        await until(lambda: not scratch.exists(), within_s=3)
        events = [event.event async for event in opened.session.events()]
        assert events[-1] == ("failed" if way == "killed" else "closed")


async def test_a_browser_that_ends_is_told_and_recorded(open_session: Any) -> None:
    async with open_session({}) as opened:
        os.kill(opened.browser_pid(), signal.SIGKILL)
        events = [event.event async for event in opened.session.events()]
        assert events[-2:] == ["browser_crashed", "closed"]
        assert opened.interception() == {
            "intercepted": False,
            "stop_reason": "browser_crashed",
            "stop_description": "The browser was ended by SIGKILL.",
        }
