"""Every request of a real Chromium, once and with its body, as requests.jsonl tells it."""

from __future__ import annotations

from typing import Any

import pytest

from clawbench.environments.browser.recorder.outcomes import Outcome, with_outcome
from clawbench.results import RequestEntry

pytestmark = pytest.mark.anyio

SENDING = {
    "/json": "fetch('/json?a=1&a=2&b=', {method: 'POST', body: JSON.stringify({x: [1]})})",
    "/form": "fetch('/form', {method: 'POST', body: new URLSearchParams({colour: 'red'})})",
    "/xhr": "x = new XMLHttpRequest(), x.open('PUT', '/xhr'), x.send('plain')",
    "/beacon": "navigator.sendBeacon('/beacon', 'bye')",
    "/large": "fetch('/large', {method: 'POST', body: 'y'.repeat(3000000)})",
    "/binary": "fetch('/binary', {method: 'POST', body: new Uint8Array([0, 255, 1])})",
    "/multipart": "f = new FormData(), f.append('a', '1'), f.append('u', new File(['hello'], 'h.txt')),"
    " fetch('/multipart', {method: 'POST', body: f})",
    "/keepalive": "fetch('/keepalive', {method: 'POST', keepalive: true, body: 'k'})",
    "/from-worker": "new Worker('/worker.js')",
    "/from-shared": "new SharedWorker('/shared.js')",
    "/from-service": "navigator.serviceWorker.register('/service.js')",
    "/picture": "new Image().src = '/picture'",
    "/font": "new FontFace('x', 'url(/font)').load().catch(() => 0)",
    "/landed": "fetch('/redirect')",
    "/socket": "new WebSocket(`ws://${location.host}/socket`)",
    "/events": "new EventSource('/events')",
    "/submitted": "document.forms[0].submit()",
}
EXPECTED = {
    "/json": ("POST", "Fetch", {"x": [1]}),
    "/form": ("POST", "Fetch", {"colour": "red"}),
    "/xhr": ("PUT", "XHR", "plain"),
    "/beacon": ("POST", "Ping", "bye"),
    "/large": ("POST", "Fetch", "y" * 3_000_000),
    "/binary": ("POST", "Fetch", "data:application/octet-stream;base64,AP8B"),
    "/multipart": (
        *("POST", "Fetch"),
        {"a": "1", "u": {"filename": "h.txt", "content_type": "application/octet-stream", "size": 5}},
    ),
    "/keepalive": ("POST", "Fetch", "k"),
    "/from-worker": ("POST", "Fetch", "w"),
    "/from-shared": ("POST", "Fetch", "s"),
    "/from-service": ("POST", "Fetch", "sw"),
    "/picture": ("GET", "Image", None),
    "/font": ("GET", "Font", None),
    "/redirect": ("GET", "Fetch", None),
    "/landed": ("GET", "Fetch", None),
    "/socket": ("GET", "WebSocket", None),
    "/events": ("GET", "EventSource", None),
    "/submitted": ("POST", "Document", {"n": "v"}),
}


@pytest.mark.parametrize("intercept", [True, False], ids=["intercepted", "unintercepted"])
async def test_each_request_is_logged_once_with_its_body(stage_at: Any, intercept: bool) -> None:
    async with stage_at(intercept=intercept) as stage:
        stage.site.pages |= {
            "/": "<form target=_blank method=post action=/submitted><input name=n value=v></form>",
            "/worker.js": "fetch('/from-worker', {method: 'POST', body: 'w'})",
            "/shared.js": "onconnect = () => fetch('/from-shared', {method: 'POST', body: 's'})",
            "/service.js": "oninstall = () => fetch('/from-service', {method: 'POST', body: 'sw'})",
        }
        await stage.open("/", "localhost")
        for script in SENDING.values():
            await stage.evaluate(f"{script}; 1")
        await stage.until(lambda: {path_of(r) for r in stage.requests()} >= set(EXPECTED))
        await stage.recorder.close()
        logged = stage.requests()

    for request in logged:
        RequestEntry.model_validate(request)
    by_path: dict[str, list[Any]] = {}
    for request in logged:
        entry = (request["method"], request["resource_type"], request["body"])
        by_path.setdefault(path_of(request), []).append(entry)
    assert {path: by_path[path] for path in EXPECTED} == {path: [entry] for path, entry in EXPECTED.items()}
    json_request = next(r for r in logged if path_of(r) == "/json")
    assert json_request["query_params"] == {"a": ["1", "2"], "b": ""}
    assert json_request["frame"]
    assert stage.recorder.requests == len(logged)


def path_of(request: dict[str, Any]) -> str:
    return "/" + request["url"].split("/", 3)[3].split("?")[0]


async def test_a_request_that_is_blocked_is_still_logged_once(stage_at: Any) -> None:
    async with stage_at() as stage:

        def refuse(params: dict[str, Any], session: str | None) -> None:
            stage.recorder.on_paused(params)
            refusal = {"requestId": params["requestId"], "errorReason": "BlockedByClient"}
            stage.cdp.notify("Fetch.failRequest", refusal, session)

        stage.cdp.on("Fetch.requestPaused", refuse)
        await stage.cdp.send("Fetch.enable", {"patterns": [{"urlPattern": "*/pay*"}]})
        await stage.open("/")
        await stage.evaluate("fetch('/pay', {method: 'POST', body: '{\"amount\": 5}'}).catch(() => 0)")
        await stage.recorder.close()
        assert [r["body"] for r in stage.requests("/pay")] == [{"amount": 5}]
        assert not [path for _, path, _ in stage.site.received if path == "/pay"]


async def test_what_is_not_http_is_left_out(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='><p>page</p>"
        await stage.open("/")
        await stage.evaluate(
            "fetch(URL.createObjectURL(new Blob(['x']))).then(() => fetch('/last')).then(() => 1)"
        )
        await stage.until(lambda: stage.requests("/last"))
        assert {r["url"].split(":")[0] for r in stage.requests()} == {"http"}


ENDINGS = {
    "/ok": "fetch('/ok')",
    "/redirect-here": "fetch('/redirect-here')",
    "/missing": "fetch('/missing')",
    "/unsafe": "fetch('http://localhost:1/unsafe')",
    "/foreign": "fetch('http://b.example:' + location.port + '/foreign', {headers: {'X-Own': '1'}})",
    "/blocked": "fetch('/blocked')",
    "/socket": "new WebSocket(`ws://${location.host}/socket`)",
}


async def test_what_became_of_each_request_stands_in_its_line_at_the_end(stage_at: Any) -> None:
    async with stage_at(intercept=True) as stage:
        stage.site.pages["/"] = "<p>hello</p>"
        await stage.open("/", "localhost")
        for script in ENDINGS.values():
            await stage.evaluate(f"{script}; 1")
        await stage.until(lambda: {path_of(r) for r in stage.requests()} >= {*ENDINGS, "/landed"})
        await stage.evaluate("new Promise(done => setTimeout(done, 500))")
        before = stage.requests()
        await stage.recorder.close()
        after = stage.requests()
    assert not any({"status", "failure", "finished_ms"} & request.keys() for request in before)
    assert [{name: new[name] for name in old} for old, new in zip(before, after, strict=True)] == before
    found = {path_of(request): request for request in after}
    assert found["/ok"]["status"] == 200
    assert found["/ok"]["mime_type"] == "text/html"
    assert found["/ok"]["protocol"] == "http/1.0"
    assert found["/ok"]["served_from"] == "network"
    assert found["/ok"]["response_size"] > 100
    assert 0 <= found["/ok"]["sent_ms"] <= found["/ok"]["response_ms"] <= found["/ok"]["finished_ms"]
    assert (found["/redirect-here"]["status"], found["/landed"]["status"]) == (302, 200)
    assert found["/missing"]["status"] == 404
    assert found["/unsafe"]["failure"] == "net::ERR_UNSAFE_PORT"
    assert "status" not in found["/unsafe"]
    assert "failure" not in found["/ok"]
    assert found["/socket"]["finished_ms"] >= 0
    assert "Unexpected response code: 200" in found["/socket"]["failure"]
    assert "status" not in found["/blocked"]
    assert found["/blocked"]["blocked"]
    assert found["/blocked"]["failure"].startswith("net::ERR_BLOCKED_BY_CLIENT")
    for request in after:
        RequestEntry.model_validate(request)


async def test_where_the_file_cannot_be_rewritten_the_lines_stay_as_they_are(
    stage_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage_at() as stage:
        await stage.open("/")
        before = stage.run.requests.read_bytes()

        def full_disk(source: Any, target: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("clawbench.results.files.os.replace", full_disk)
        await stage.recorder.close()
    assert stage.run.requests.read_bytes() == before
    assert [path.name for path in stage.run.data.iterdir() if path.name.startswith(".requests")] == []


def test_only_what_is_known_is_added_to_a_line() -> None:
    line = b'{"url":"http://a.example/","body":"caf\xc3\xa9"}\n'
    assert with_outcome(line, None) == line
    assert with_outcome(line, Outcome()) == line
    assert with_outcome(line, Outcome(status=200, blocked=True)) == (
        b'{"url":"http://a.example/","body":"caf\xc3\xa9","status":200,"blocked":true}\n'
    )
    assert with_outcome(b'{"cut sho', Outcome(status=200)) == b'{"cut sho'


def test_a_failure_is_told_in_full_and_an_empty_answer_is_none() -> None:
    unreachable = Outcome()
    unreachable.failed({"errorText": "net::ERR_SOCKS_CONNECTION_FAILED"}, "the name was not resolved")
    assert unreachable.failure == "net::ERR_SOCKS_CONNECTION_FAILED (the name was not resolved)"
    left = Outcome()
    left.failed({"errorText": "net::ERR_ABORTED"}, "of an earlier try")
    assert left.failure == "net::ERR_ABORTED"
    empty = Outcome(status=204)
    empty.failed({"errorText": "net::ERR_ABORTED"})
    assert empty.failure is None
