"""The interceptor where things go wrong: whatever it cannot decide does not leave."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.gate.interceptor import Interceptor
from clawbench.environments.browser.pipe import PipeTransport
from clawbench.results import RunDirectory
from clawbench.tasks import EvalSchema

pytestmark = pytest.mark.anyio

ORDER = {"url": "https://shop.example/order", "method": "POST", "headers": {}, "postData": "a=1"}
OTHER = {"url": "https://shop.example/", "method": "GET", "headers": {}}


class Browser:
    """The browser's end of the pipe, step by step."""

    def __init__(self) -> None:
        self.read_fd, self.client_write = os.pipe()
        self.client_read, self.write_fd = os.pipe()

    def say(self, **message: Any) -> None:
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")

    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(raw) for raw in os.read(self.read_fd, 1 << 16).split(b"\0") if raw]

    def pause(self, number: int, request: dict[str, Any], **more: Any) -> None:
        self.say(method="Fetch.requestPaused", params={"requestId": f"r{number}", "request": request}, **more)


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    os.close(browser.read_fd)
    os.close(browser.write_fd)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, batch="b", suite="s", task="t", harness="h", model="m")


class Watcher:
    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.matched: list[Any] = []
        self.failures: list[Exception] = []
        self.disk_is_full = False

    def on_request(self, paused: dict[str, Any]) -> None:
        if self.disk_is_full:
            raise OSError(28, "No space left on device")
        self.seen.append(paused["requestId"])


def decided(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    verdicts = [one for one in messages if one["method"].startswith("Fetch.")]
    return [(one["method"].removeprefix("Fetch."), one["params"]["requestId"]) for one in verdicts]


async def intercepting(
    browser: Browser, run: RunDirectory, watcher: Watcher, schema: dict[str, Any] | None = None
) -> CdpConnection:
    cdp = CdpConnection(PipeTransport(browser.client_read, browser.client_write))
    interceptor = Interceptor(
        cdp,
        EvalSchema.model_validate({"url_pattern": "/order", "method": "POST", **(schema or {})}),
        run,
        on_request=watcher.on_request,
        on_match=watcher.matched.append,
        on_failure=watcher.failures.append,
    )
    browser.say(id=1, result={})
    await interceptor.start()
    enabled = browser.heard()
    assert [(one["method"], one.get("sessionId")) for one in enabled] == [("Fetch.enable", None)]
    return cdp


async def test_the_first_match_is_saved_and_every_match_blocked(browser: Browser, run: RunDirectory) -> None:
    watcher = Watcher()
    cdp = await intercepting(browser, run, watcher)
    browser.pause(1, OTHER)
    browser.pause(2, ORDER)
    browser.pause(3, {**ORDER, "postData": "second"})
    browser.say(id=99, result={})
    await settle(cdp, browser)
    assert decided(browser.heard()) == [
        ("continueRequest", "r1"),
        ("failRequest", "r2"),
        ("failRequest", "r3"),
    ]
    saved = json.loads(run.interception.read_text())
    assert saved["request"]["body"] == "a=1"
    assert (len(watcher.matched), watcher.seen) == (1, ["r1", "r2", "r3"])
    cdp.close()


async def test_a_request_that_cannot_be_logged_is_blocked_and_reported(
    browser: Browser, run: RunDirectory
) -> None:
    watcher = Watcher()
    cdp = await intercepting(browser, run, watcher)
    watcher.disk_is_full = True
    browser.pause(1, OTHER)
    await settle(cdp, browser)
    assert decided(browser.heard()) == [("failRequest", "r1")]
    assert isinstance(watcher.failures[0], OSError)
    cdp.close()


async def test_a_match_that_cannot_be_saved_is_blocked_all_the_same(
    browser: Browser, run: RunDirectory
) -> None:
    watcher = Watcher()
    cdp = await intercepting(browser, run, watcher)
    run.data.rmdir()
    browser.pause(1, ORDER)
    browser.pause(2, {"url": 5})
    await settle(cdp, browser)
    assert decided(browser.heard()) == [("failRequest", "r1"), ("failRequest", "r2")]
    assert len(watcher.failures) == 2
    assert watcher.matched == []
    cdp.close()


async def test_pauses_of_other_sessions_are_not_ours(browser: Browser, run: RunDirectory) -> None:
    watcher = Watcher()
    cdp = await intercepting(browser, run, watcher)
    browser.pause(1, ORDER, sessionId="agent")
    await settle(cdp, browser)
    assert watcher.seen == []
    cdp.close()


@pytest.mark.parametrize(("method", "verdict"), [("GET", "failRequest"), ("POST", "continueRequest")])
async def test_no_service_worker_is_let_in_where_a_get_can_match(
    browser: Browser, run: RunDirectory, method: str, verdict: str
) -> None:
    watcher = Watcher()
    cdp = await intercepting(browser, run, watcher, {"method": method})
    script = {**OTHER, "url": "https://shop.example/sw.js", "headers": {"Service-Worker": "script"}}
    browser.pause(1, script)
    await settle(cdp, browser)
    assert decided(browser.heard()) == [(verdict, "r1")]
    assert watcher.matched == []
    cdp.close()


async def settle(cdp: CdpConnection, browser: Browser) -> None:
    """Return when the connection has read all that the browser said so far."""
    seen = cdp.call("Marker.ask")
    number = cdp._next_id
    browser.say(id=number, result={})
    await seen
