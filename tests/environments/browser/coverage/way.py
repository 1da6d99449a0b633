"""What a way of sending is, and how it is tried in a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from clawbench.results import StopReason
from tests.environments.browser.conftest import AgentClient, Arrived, Opened, RefusedError, until

FINAL = {"kind": "final"}
BODY = '{"kind": "final"}'
PATH = "/order"
SHOP, LOCAL = "http://shop.example", "http://localhost"
"""On localhost pages are in a secure context, in which service workers and more are offered."""
PATIENCE_S = 20.0

Act = Callable[[Opened, AgentClient], Awaitable[None]]


@dataclass(frozen=True)
class Way:
    """One way of sending a request that matches its schema."""

    name: str
    send: str | Act
    """JavaScript for the page, or what the agent does; BODY_ stands for the body."""
    body: Any = field(default_factory=lambda: dict(FINAL))
    """What requests.jsonl and interception.json have to show."""
    shown: Any = None
    """What interception.json has to show, where that differs."""
    at: str = f"{SHOP}/"
    """The page from which it is sent."""
    url: str = f"{SHOP}{PATH}"
    """Where the request that is blocked goes, exactly."""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"body": FINAL})
    lines: int = 1
    """How often it stands in requests.jsonl; 2 where a service worker passes on what a page sent."""
    asked_again: bool = False
    """The browser may ask for it more than once by itself; each asking then has a line of its own."""
    undecidable: bool = False
    before: tuple[str, ...] = ()
    """Paths of redirects on the way there, which do reach the site."""
    at_path: str = PATH
    """Under which path the site would get it."""
    rare: bool = False
    """Tried in the group `coverage` only."""

    @property
    def method(self) -> str:
        method: str = self.schema.get("method", "POST")
        return method

    def sent(self, opened: Opened) -> list[dict[str, Any]]:
        """Its lines in requests.jsonl."""
        return [one for one in opened.requests() if (one["url"], one["method"]) == (self.url, self.method)]

    def arrived(self, opened: Opened) -> list[Arrived]:
        return opened.site.got(self.at_path, self.method)

    def check_lines(self, opened: Opened) -> None:
        """Each request has its lines, with the body as it was."""
        sent = self.sent(opened)
        askings = len({one["id"] for one in sent}) if self.asked_again else 1
        assert [one["body"] for one in sent] == [self.body] * self.lines * askings


def get(name: str, send: str | Act, *, origin: str = SHOP, **more: Any) -> Way:
    """A way to send a GET whose parameters match."""
    schema = {"method": "GET", "params": FINAL}
    fields = {"body": None, "at": f"{origin}/", "url": f"{origin}{PATH}?kind=final", "schema": schema}
    return Way(name, send, **fields | more)


def local(name: str, send: str | Act, **more: Any) -> Way:
    """A way that is offered in secure contexts only."""
    return Way(name, send, at=f"{LOCAL}/", url=f"{LOCAL}{PATH}", **more)


async def send(opened: Opened, agent: AgentClient, way: str | Act) -> Any:
    """Do it; that the request is refused, or the page gone before it could answer, is no error."""
    if not isinstance(way, str):
        return await way(opened, agent)
    with suppress(RefusedError):
        script = way.replace("BODY_", BODY)
        return await agent.run(f"(async () => {{ {script} }})().catch(error => String(error))")
    return None


async def intercepted(opened: Opened) -> None:
    """Return when the session says that it has the final request."""
    told = ""
    async with asyncio.timeout(PATIENCE_S):
        async for event in opened.session.events():
            if event.event == "intercepted":
                return
            told += f"\n{event.event}: {event.detail}"
    raise AssertionError(f"the session ended:{told}")


async def start(opened: Opened, way: Way) -> AgentClient:
    agent = await opened.page_client()
    await agent.go(way.at)
    return agent


async def try_blocked(opened: Opened, way: Way) -> None:
    """Send it, and see at the site and in both records that it was blocked."""
    agent = await start(opened, way)
    await send(opened, agent, way.send)
    await intercepted(opened)
    last = await opened.session.stop(StopReason.INTERCEPTED)
    assert last.event == "closed"
    assert way.arrived(opened) == []
    assert [one.path for one in opened.site.arrived if one.path in way.before] == list(way.before)
    way.check_lines(opened)
    found = opened.interception()
    request = found["request"]
    shown = way.body if way.shown is None else way.shown
    assert (request["method"], request["url"], request["body"]) == (way.method, way.url, shown)
    assert ("undecidable" in found) is way.undecidable


async def try_passed(opened: Opened, way: Way) -> bytes:
    """Send it past a schema that does not match; returns the body that reached the site."""
    agent = await start(opened, way)
    await send(opened, agent, way.send)
    await until(lambda: way.arrived(opened))
    await opened.session.stop(StopReason.AGENT_EXITED)
    way.check_lines(opened)
    assert opened.interception()["intercepted"] is False
    arrived = way.arrived(opened)
    assert len(arrived) == 1 or way.asked_again
    return arrived[0].body
