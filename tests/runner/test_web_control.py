"""When a web run ends: idleness, and the closing moment after a match. Real browser, real runner."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from websockets.asyncio.client import ClientConnection, unix_connect

from clawbench.harnesses import AgentResult, RunContext
from clawbench.models import Model, scripted_model
from clawbench.results import Claim, FinishReason, RunDirectory, RunRecord, StopReason
from clawbench.runner import Progress, RunSpec, open_host, run_task
from clawbench.runner.stages import web
from clawbench.sites import serving
from clawbench.tasks import WebTask, load_task

POLLING = "<script>setInterval(() => fetch('/news'), 100)</script>"
STILL = "<h1>Shop</h1>"
RESTLESS = "<h1 id=clock></h1><script>setInterval(() => clock.textContent = performance.now(), 50)</script>"
SEND = "setTimeout(() => fetch('/order', {method: 'POST', body: 'x'}).catch(() => 0), 300); 0"
QUIET_PAGE_S = 3.0
"""Two seconds are wanted, and reached on a quiet machine; tests run beside others."""

Act = Callable[["Page"], Awaitable[None]]


@dataclass
class Page:
    """The agent's connection to its page."""

    socket: ClientConnection
    number: int = 0

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        async for text in self.socket:
            message: dict[str, Any] = json.loads(text)
            if message.get("id") == self.number:
                return message
        raise AssertionError("the connection ended")


@dataclass
class Scripted:
    """A harness whose agent is a function of the test, on the agent's own socket."""

    act: Act
    name: str = "scripted-act"
    version: str | None = None
    kinds: frozenset[str] = frozenset({"web"})
    summary: str = "does what a test says"

    async def provision(self, sandbox: Any) -> None:
        return None

    async def open(self, context: RunContext) -> RunContext:
        return context

    async def perform(self, agent: RunContext, prompt: str) -> AgentResult:
        services: Any = agent.services
        socket = str(services._sockets["cdp"])
        reader, writer = await asyncio.open_unix_connection(socket)
        writer.write(b"GET /json/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        listed = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
        writer.close()
        url = next(page["webSocketDebuggerUrl"] for page in listed if page["type"] == "page")
        async with unix_connect(socket, url, compression=None, proxy=None) as connection:
            page = Page(connection)
            await page.send("Page.navigate", url="http://control.example/")
            await self.act(page)
        return AgentResult(FinishReason.STOP, 0)

    async def collect(self, agent: RunContext, harness_dir: Path) -> Claim | None:
        return None

    async def close(self, agent: RunContext) -> None:
        return None


def task_at(directory: Path) -> WebTask:
    task = directory / "902-control"
    task.mkdir()
    schema = {"url_pattern": "/order$", "method": "POST"}
    fields = {"instruction": "x", "eval_schema": schema, "time_limit": 1, "site": "control"}
    (task / "task.json").write_text(json.dumps(fields))
    loaded = load_task(task)
    assert isinstance(loaded, WebTask)
    return loaded


def perform(
    act: Act, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[RunDirectory, RunRecord]:
    async def shown(_: Request) -> HTMLResponse:
        return HTMLResponse(page)

    async def news(_: Request) -> PlainTextResponse:
        return PlainTextResponse("none")

    def build(_: list[dict[str, Any]]) -> Starlette:
        return Starlette(routes=[Route("/", shown), Route("/news", news)])

    monkeypatch.setitem(serving._SITES, "control", (("control.example",), build))

    async def scenario() -> tuple[RunDirectory, RunRecord]:
        policy = tmp_path / "policy.yaml"
        policy.write_text(
            "description: x\nprice: {input: 1, output: 1}\nrules: [{when: {turn: 0}, text: x}]\n"
        )
        model: Model = scripted_model("scripted-policy", policy)
        harness: Any = Scripted(act)
        spec = RunSpec(task_at(tmp_path), model, harness, tmp_path / "runs", "b", **options)
        async with open_host() as host:
            return await run_task(host, spec, Progress("x"))

    return asyncio.run(scenario())


async def wait_for_ever(_: Page) -> None:
    await asyncio.Event().wait()


def test_a_page_that_asks_for_news_does_not_keep_a_dead_agent_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, record = perform(wait_for_ever, POLLING, tmp_path, monkeypatch, idle_s=2.0)
    assert record.stop_reason is StopReason.IDLE
    assert record.requests is not None
    assert record.requests > 5
    assert record.agent_duration_s is not None
    assert record.agent_duration_s < 15


def test_an_agent_that_only_reads_is_not_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(page: Page) -> None:
        for _ in range(8):
            await page.send("Runtime.evaluate", expression="document.title")
            await asyncio.sleep(0.5)

    _, record = perform(read, STILL, tmp_path, monkeypatch, idle_s=2.0)
    assert record.stop_reason is StopReason.AGENT_EXITED


async def order(page: Page) -> None:
    await page.send("Runtime.evaluate", expression=SEND)
    await asyncio.Event().wait()


def seconds_after_match(run: RunDirectory, done_at: float) -> float:
    found = json.loads(run.interception.read_text())
    assert found["intercepted"] is True
    return done_at - float(found["request"]["timestamp"])


def test_a_quiet_page_ends_at_once_after_a_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, record = perform(order, STILL, tmp_path, monkeypatch)
    assert record.stop_reason is StopReason.INTERCEPTED
    assert 0.5 <= seconds_after_match(run, time.time()) < QUIET_PAGE_S


def test_a_restless_page_gets_the_longest_closing_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert web.SessionConfig.model_fields["closing_moment_s"].default == 15.0

    class Hurried(web.SessionConfig):
        closing_moment_s: float = 3.0

    monkeypatch.setattr(web, "SessionConfig", Hurried)
    run, record = perform(order, RESTLESS, tmp_path, monkeypatch)
    assert record.stop_reason is StopReason.INTERCEPTED
    assert 3.0 <= seconds_after_match(run, time.time()) < 3.0 + QUIET_PAGE_S
