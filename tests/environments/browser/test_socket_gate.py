"""WebSockets at the gate, step by step: when a connection is admitted, and what is taken for a match."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.gate import sockets
from clawbench.environments.browser.gate.bodies import Body
from clawbench.environments.browser.gate.sockets import Admit, SocketGate, address
from clawbench.environments.browser.pipe import PipeTransport
from clawbench.tasks import EvalSchema

pytestmark = pytest.mark.anyio

FINAL = "wss://shop.example/order?kind=final"
GET = {"url_pattern": r"^https://shop\.example/order", "method": "GET", "params": {"kind": "final"}}


class Page:
    """The browser's end of the pipe, with one page that answers when it is told to."""

    def __init__(self) -> None:
        self.read_fd, self.client_write = os.pipe()
        self.client_read, self.write_fd = os.pipe()
        self.taken: list[tuple[str, Body, bool]] = []

    def gate(self, schema: dict[str, Any]) -> tuple[CdpConnection, SocketGate]:
        cdp = CdpConnection(PipeTransport(self.client_read, self.client_write))
        gate = SocketGate(cdp, EvalSchema.model_validate(schema), lambda *what: self.taken.append(what))
        gate.start()
        gate.follow("page")
        return cdp, gate

    def say(self, **message: Any) -> None:
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")

    def opens(self, url: str) -> None:
        params = {"requestId": url, "url": url}
        self.say(method="Network.webSocketCreated", sessionId="page", params=params)

    async def answers(self) -> None:
        """Reply to the question that the gate asks before it admits anybody."""
        asked = json.loads((await asyncio.to_thread(os.read, self.read_fd, 1 << 16)).rstrip(b"\0"))
        assert asked["sessionId"] == "page"
        self.say(id=asked["id"], sessionId="page", result={})


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page()
    yield page
    os.close(page.read_fd)
    os.close(page.write_fd)


def asked(gate: SocketGate) -> Admit:
    admit = gate.admission()
    assert admit is not None
    return admit


async def test_a_connection_waits_for_what_pages_have_still_to_tell(page: Page) -> None:
    cdp, gate = page.gate(GET)
    admitting = asyncio.ensure_future(asked(gate)("shop.example.", 443))
    page.opens(FINAL)
    await page.answers()
    assert await admitting is False
    assert [(url, blocked) for url, _, blocked in page.taken] == [(FINAL, True)]
    cdp.close()


async def test_what_does_not_match_is_admitted(page: Page) -> None:
    cdp, gate = page.gate(GET)
    admit = asked(gate)
    page.opens("wss://shop.example/order?kind=draft")
    admitting = asyncio.ensure_future(admit("shop.example", 443))
    await page.answers()
    assert await admitting is True
    assert page.taken == []
    cdp.close()


async def test_a_page_that_does_not_answer_gets_no_connection(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "ANSWER_WITHIN_S", 0.05)
    cdp, gate = page.gate(GET)
    assert await asked(gate)("shop.example", 443) is False
    cdp.close()


@pytest.mark.parametrize("schema", [{"method": "POST"}, {"method": "GET", "transport": "websocket"}])
async def test_nobody_is_asked_where_no_handshake_can_match(page: Page, schema: dict[str, Any]) -> None:
    cdp, gate = page.gate({"url_pattern": "/order", **schema})
    assert gate.admission() is None
    cdp.close()


def test_host_and_port_are_those_the_proxy_is_asked_for() -> None:
    assert address("ws://shop.example/x") == ("shop.example", 80)
    assert address("wss://SHOP.example./x?y") == ("shop.example", 443)
    assert address("ws://shop.example:8080/") == ("shop.example", 8080)
