"""A browser behind somebody else's gate: tokens, refusals, and a line that goes dead."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from clawbench.errors import EnvironmentFailedError
from clawbench.results import StopReason
from tests.environments.browser.conftest import Opened, until
from tests.environments.browser.remote.conftest import RemoteOpener
from tests.environments.browser.remote.elsewhere import Elsewhere, json_lines, neighbour
from tests.environments.browser.remote.provider import TOKEN, provide
from tests.environments.browser.remote.site import Site

pytestmark = pytest.mark.anyio


async def events_until(opened: Opened, wanted: str) -> list[str]:
    """What the session says, up to the first event of a kind."""
    said = []
    async with asyncio.timeout(20):
        async for event in opened.session.events():
            said.append(event.detail)
            if event.event == wanted:
                return said
    raise AssertionError(f"never {wanted}: {said}")


def everything_in(*places: Path) -> bytes:
    files = [one for place in places for one in (place.rglob("*") if place.is_dir() else [place])]
    return b"".join(one.read_bytes() for one in files if one.is_file())


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_token_lets_in_and_is_told_to_nobody(
    scheme: str, elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener
) -> None:
    async with provide(await elsewhere.websocket()) as provider:
        async with open_remote(provider.url(scheme)) as opened:
            words = Path(f"/proc/{opened.session.pid}/cmdline").read_bytes()
            assert TOKEN.encode() not in words
            agent = await opened.page_client()
            await agent.go(site.url("/"))
            await opened.session.stop(StopReason.AGENT_EXITED)
        assert provider.connections == 1, "every connection may cost"
        assert TOKEN not in opened.config.model_dump_json()
        assert TOKEN not in repr(opened.config)
        found = everything_in(opened.run.path, opened.log)
        assert b"pageLoad" in found
        assert TOKEN.encode() not in found


async def test_without_the_token_nobody_gets_in(elsewhere: Elsewhere, open_remote: RemoteOpener) -> None:
    async with provide(await elsewhere.websocket()) as provider:
        with pytest.raises(EnvironmentFailedError, match=r"--browser-cdp: .*HTTP 403.*token") as refused:
            async with open_remote(provider.url(token="spent-token-of-yesterday")):
                pass
        assert "spent-token" not in str(refused.value)


async def test_a_browser_without_contexts_of_their_own(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener
) -> None:
    owner = await elsewhere.client()
    (first,) = await elsewhere.pages()
    attached = await owner("Target.attachToTarget", targetId=first["targetId"], flatten=True)
    await owner("Page.navigate", url=site.url("/green?before"), session=attached["sessionId"])
    await until(lambda: site.got("/green?before"))
    other = await neighbour(elsewhere)
    await other.go(site.url("/"))
    refused = frozenset({"Target.createBrowserContext"})
    async with provide(await elsewhere.websocket(), refused) as provider:
        async with open_remote(provider.url()) as opened:
            said = await events_until(opened, "notice")
            said += await events_until(opened, "notice") + await events_until(opened, "notice")
            assert any("default one was used" in text for text in said)
            await until(lambda: site.got("/green?before") == 2, show=lambda: site.arrived)
            order = "fetch('/order', {method: 'POST'}).catch(() => 0)"
            await owner.run(order, session=attached["sessionId"])
            agent = await opened.page_client()
            await agent.go(site.url("/"))
            await agent.run("fetch('/order?agent', {method: 'POST'}).catch(() => 0)")
            assert site.got("/order") == 0, "the whole default context is intercepted"
            await other.run("fetch('/order?other', {method: 'POST'}).then(() => 1)")
            assert site.got("/order?other") == 1
            await opened.session.stop(StopReason.INTERCEPTED)
        left = {page["targetId"] for page in await elsewhere.pages()}
        assert left == {first["targetId"], other.target}, "what was open stays open"
        assert not [line for line in json_lines(opened.run.requests) if "other" in line["url"]]


async def test_a_browser_that_cannot_be_watched_is_refused(
    elsewhere: Elsewhere, open_remote: RemoteOpener
) -> None:
    async with provide(await elsewhere.websocket(), frozenset({"Fetch.enable"})) as provider:
        with pytest.raises(EnvironmentFailedError, match=r"cannot be watched: Fetch\.enable.*provider"):
            async with open_remote(provider.url()):
                pass


async def test_when_the_line_goes_dead_the_run_is_over_and_says_so(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener
) -> None:
    async with provide(await elsewhere.websocket()) as provider:
        async with open_remote(provider.url()) as opened:
            agent = await opened.page_client()
            await agent.go(site.url("/?agent"))
            provider.cut()
            said = await events_until(opened, "browser_crashed")
            assert "connection to the browser was lost" in said[-1]
            last = await opened.session.stop(StopReason.BROWSER_CRASHED, said[-1])
            assert last.event == "closed"
        outcome = opened.interception()
        assert outcome["stop_reason"] == "browser_crashed"
        assert "may have left" in outcome["stop_description"]
        assert next(line["url"] for line in json_lines(opened.run.requests)) == site.url("/?agent")
        assert len(await elsewhere.pages()) == 1, "the run's context is gone, the browser is not"


async def test_a_browser_that_ends_is_told(elsewhere: Elsewhere, open_remote: RemoteOpener) -> None:
    async with open_remote(elsewhere.http) as opened:
        elsewhere.process.terminate()
        said = await events_until(opened, "browser_crashed")
        assert "connection to the browser was lost" in said[-1]
        await opened.session.stop(StopReason.BROWSER_CRASHED, said[-1])
