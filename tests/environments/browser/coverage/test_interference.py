"""The agent's own CDP client interferes: no final request gets out, and each is logged."""

from __future__ import annotations

import asyncio
import zlib
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from clawbench.results import StopReason, read_json_lines
from tests.environments.browser.conftest import AgentClient, Opened, RefusedError, until
from tests.environments.browser.coverage.pages import PRELOADING_WORKER
from tests.environments.browser.coverage.way import BODY, FINAL, LOCAL, SHOP, intercepted

pytestmark = pytest.mark.anyio

DRAFT = '{"kind": "draft"}'
ORDER = f"{SHOP}/order"
TO_ORDER = [{"name": "Location", "value": "/order"}]
NORMAL = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

Interfere = Callable[[Opened, AgentClient], Awaitable[None]]


@dataclass(frozen=True)
class Attempt:
    """Something a client does, and how often the final request then stands in requests.jsonl."""

    interfere: Interfere
    lines: int


ATTEMPTS: dict[str, Attempt] = {}


def attempt(lines: int = 1) -> Callable[[Interfere], Interfere]:
    def added(interfere: Interfere) -> Interfere:
        ATTEMPTS[interfere.__name__.replace("_", " ")] = Attempt(interfere, lines)
        return interfere

    return added


def encoded(text: str | bytes) -> str:
    return b64encode(text.encode() if isinstance(text, str) else text).decode()


async def post(
    agent: AgentClient, path: str = "/order", body: str = BODY, session: str | None = None
) -> None:
    """Send without waiting for what becomes of it."""
    await agent.run(f"fetch('{path}', {{method: 'POST', body: '{body}'}}).catch(() => 0); 0", session=session)


async def paused(agent: AgentClient, path: str) -> str:
    """The id of the request for `path` that the agent's own Fetch domain holds."""

    def held() -> list[str]:
        pauses = [one["params"] for one in agent.events if one["method"] == "Fetch.requestPaused"]
        return [one["requestId"] for one in pauses if path in one["request"]["url"]]

    found: list[str] = await until(held)
    return found[-1]


async def popup(opened: Opened, agent: AgentClient) -> tuple[AgentClient, str]:
    await agent.run("popup('/frame').then(() => 0)")
    pages = (await opened.http("GET", "/json/list")).json()
    tab = next(page["id"] for page in pages if page["url"].endswith("/frame"))
    return await opened.page_client(tab), tab


# -- a second Fetch client -------------------------------------------------------------------------


@attempt()
async def continues_it(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable")
    await post(agent)
    await agent("Fetch.continueRequest", requestId=await paused(agent, "/order"))


@attempt()
async def rewrites_the_url(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable")
    await post(agent, "/free")
    await agent("Fetch.continueRequest", requestId=await paused(agent, "/free"), url=ORDER)


@attempt(lines=2)
async def rewrites_the_url_out_and_lets_the_site_redirect_it_in(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable", patterns=[{"urlPattern": "*/order"}])
    await post(agent)
    await agent("Fetch.continueRequest", requestId=await paused(agent, "/order"), url=f"{SHOP}/to/307")
    await agent("Fetch.disable")


@attempt()
async def rewrites_the_body(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable")
    await post(agent, body=DRAFT)
    await agent("Fetch.continueRequest", requestId=await paused(agent, "/order"), postData=encoded(BODY))


@attempt()
async def rewrites_the_body_and_packs_it(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable")
    await post(agent, body=DRAFT)
    await agent(
        "Fetch.continueRequest",
        requestId=await paused(agent, "/order"),
        postData=encoded(zlib.compress(BODY.encode())),
        headers=[{"name": "Content-Encoding", "value": "deflate"}],
    )


@attempt()
async def turns_a_navigation_into_a_post(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable")
    await agent.run("location = '/free'; 0")
    await agent(
        "Fetch.continueRequest",
        requestId=await paused(agent, "/free"),
        url=ORDER,
        method="POST",
        postData=encoded("kind=final"),
        headers=[{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}],
    )


@attempt()
async def answers_with_a_redirect(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable", patterns=[{"urlPattern": "*/free"}])
    await post(agent, "/free")
    held = await paused(agent, "/free")
    await agent("Fetch.fulfillRequest", requestId=held, responseCode=307, responseHeaders=TO_ORDER)


@attempt()
async def answers_a_form_with_a_redirect(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable", patterns=[{"urlPattern": "*/free"}])
    await agent.run("form('<input name=kind value=final>', {action: '/free'}).submit(); 0")
    held = await paused(agent, "/free")
    await agent("Fetch.fulfillRequest", requestId=held, responseCode=307, responseHeaders=TO_ORDER)


@attempt()
async def detaches_while_it_holds_the_request(opened: Opened, agent: AgentClient) -> None:
    browser = await opened.browser_client()
    target = (await browser("Target.getTargets"))["targetInfos"][0]["targetId"]
    session = (await browser("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    await browser("Fetch.enable", session=session)
    await post(agent)
    await paused(browser, "/order")
    await browser("Target.detachFromTarget", sessionId=session)


@attempt()
async def hangs_up_while_it_holds_the_request(opened: Opened, agent: AgentClient) -> None:
    other = await opened.page_client()
    await other("Fetch.enable")
    await post(agent)
    await paused(other, "/order")
    await other.close()


@attempt(lines=2)
async def closes_the_tab_while_it_holds_the_request(opened: Opened, agent: AgentClient) -> None:
    other, tab = await popup(opened, agent)
    await other("Fetch.enable")
    await other.run(f"navigator.sendBeacon('/order', '{BODY}'); 0")
    await other.run(f"fetch('/order', {{method: 'POST', body: '{BODY}', keepalive: true}}); 0")
    await paused(other, "/order")
    await opened.http("GET", f"/json/close/{tab}")


@attempt()
async def switches_fetch_off_while_it_holds_the_request(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable")
    await post(agent)
    await paused(agent, "/order")
    await agent("Fetch.disable")


@attempt(lines=2)
async def answers_itself_and_loads_again(_opened: Opened, agent: AgentClient) -> None:
    await agent("Page.enable")
    await agent("Fetch.enable", patterns=[{"urlPattern": "*/order"}])
    await agent.run("form('<input name=kind value=final>').submit(); 0")
    held = await paused(agent, "/order")
    agent.events.clear()
    await agent("Fetch.fulfillRequest", requestId=held, responseCode=200, body=encoded("ordered"))
    await until(lambda: [one for one in agent.events if one["method"] == "Page.loadEventFired"])
    await agent("Fetch.disable")
    await agent("Page.reload")


@attempt(lines=0)
async def writes_a_whole_request_for_a_method(_opened: Opened, agent: AgentClient) -> None:
    await agent("Fetch.enable", patterns=[{"urlPattern": "*/free"}])
    await post(agent, "/free")
    head = f"POST /order HTTP/1.1\r\nHost: shop.example\r\nContent-Length: {len(BODY)}\r\n\r\n"
    with pytest.raises(RefusedError, match="no method"):
        await agent(
            "Fetch.continueRequest", requestId=await paused(agent, "/free"), method=f"{head}{BODY}GET"
        )
    await agent("Fetch.disable")
    await post(agent, "/order?sent-all-the-same")


# -- everything else that is offered ---------------------------------------------------------------


@attempt()
async def packs_bodies_by_extra_headers(_opened: Opened, agent: AgentClient) -> None:
    await agent("Network.enable")
    await agent("Network.setExtraHTTPHeaders", headers={"Content-Encoding": "deflate"})
    content = list(zlib.compress(BODY.encode()))
    await agent.run(f"fetch('/order', {{method: 'POST', body: new Uint8Array({content})}}).catch(() => 0)")


@attempt(lines=2)
async def replays_an_xhr(_opened: Opened, agent: AgentClient) -> None:
    await agent("Network.enable")
    await agent.run(f"x = new XMLHttpRequest(); x.open('POST', '/order'); x.send('{BODY}'); 0")

    def sent() -> list[str]:
        events = [one["params"] for one in agent.events if one["method"] == "Network.requestWillBeSent"]
        return [one["requestId"] for one in events if one["request"]["url"] == ORDER]

    await agent("Network.replayXHR", requestId=(await until(sent))[0])
    await until(lambda: len(sent()) == 2)


@attempt()
async def disables_every_domain(_opened: Opened, agent: AgentClient) -> None:
    for domain in ("Network", "Page", "Runtime", "DOM", "Fetch", "Log"):
        await agent(f"{domain}.enable")
        await agent(f"{domain}.disable")
    await post(agent)


@attempt()
async def bypasses_what_can_be_bypassed(_opened: Opened, agent: AgentClient) -> None:
    await agent("Network.enable")
    await agent("Network.setBypassServiceWorker", bypass=True)
    await agent("Network.setCacheDisabled", cacheDisabled=True)
    await agent("Network.setBlockedURLs", urls=["*/free*"])
    await agent("Page.setBypassCSP", enabled=True)
    await agent("Emulation.setUserAgentOverride", userAgent="Mozilla/5.0")
    await post(agent)


@attempt(lines=2)
async def goes_offline_and_online(_opened: Opened, agent: AgentClient) -> None:
    await agent("Network.enable")
    await agent("Network.emulateNetworkConditions", **{**NORMAL, "offline": True})
    await post(agent)
    await agent("Network.emulateNetworkConditions", **NORMAL)
    await post(agent)


@attempt(lines=2)
async def sends_from_every_new_document(_opened: Opened, agent: AgentClient) -> None:
    source = f"fetch('/order', {{method: 'POST', body: '{BODY}'}})"
    await agent("Page.addScriptToEvaluateOnNewDocument", source=source, runImmediately=True)
    await agent.go(f"{SHOP}/frame")


@attempt(lines=3)
async def sends_from_every_session(opened: Opened, agent: AgentClient) -> None:
    browser = await opened.browser_client()
    await browser("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
    await agent("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
    await agent.run("window.w = new Worker('/worker.js'); frame('http://other.example/frame').then(() => 0)")

    def sessions() -> list[str]:
        events = [one["params"] for one in agent.events if one["method"] == "Target.attachedToTarget"]
        return [one["sessionId"] for one in events if one["targetInfo"]["type"] in ("iframe", "worker")]

    await until(lambda: len(sessions()) == 2)
    send = f"fetch('{ORDER}', {{method: 'POST', body: '{BODY}', mode: 'no-cors'}}).catch(() => 0); 0"
    for session in (None, *sessions()):
        await agent.run(send, session=session)


@attempt()
async def keeps_new_targets_waiting_and_hangs_up(opened: Opened, agent: AgentClient) -> None:
    other = await opened.page_client()
    await other("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
    await agent.run(
        f"new Worker('/worker.js').postMessage(`fetch('/order', {{method: 'POST', body: '{BODY}'}})`); 0"
    )
    await until(lambda: [one for one in other.events if one["method"] == "Target.attachedToTarget"])
    await other.close()


@attempt()
async def floods(opened: Opened, agent: AgentClient) -> None:
    body = f"n === 250 ? '{BODY}' : '' + n"
    await agent.run(
        f"Promise.allSettled([...Array(500).keys()].map(n => fetch(n === 250 ? '/order' : '/free?' + n,"
        f"{{method: 'POST', body: {body}}}))).then(() => 0)"
    )
    assert len(opened.site.got("/free")) == 499


@attempt(lines=0)
async def asks_for_what_is_refused(opened: Opened, agent: AgentClient) -> None:
    browser = await opened.browser_client()
    frame = (await agent("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    options = {"disableCache": True, "includeCredentials": True}
    tries: list[tuple[AgentClient, str, dict[str, Any]]] = [
        (agent, "Network.loadNetworkResource", {"frameId": frame, "url": ORDER, "options": options}),
        (agent, "Network.setRequestInterception", {"patterns": []}),
        (browser, "Target.createBrowserContext", {}),
        (browser, "Fetch.enable", {}),
        (browser, "Fetch.disable", {}),
        (browser, "Target.exposeDevToolsProtocol", {"targetId": frame}),
    ]
    for client, method, params in tries:
        with pytest.raises(RefusedError, match="Not allowed here"):
            await client(method, **params)
    log = list(read_json_lines(opened.run.relay_log))
    refused = {one["method"] for one in log if one["decision"].startswith("refused")}
    assert refused == {method for _, method, _ in tries}
    await post(agent, "/order?sent-all-the-same")


@pytest.mark.parametrize("name", ATTEMPTS)
async def test_no_client_gets_the_final_request_out(open_site: Any, name: str) -> None:
    async with open_site({"body": FINAL}) as opened:
        agent = await opened.page_client()
        await agent.go(f"{SHOP}/")
        await ATTEMPTS[name].interfere(opened, agent)
        await intercepted(opened)
        await opened.session.stop(StopReason.INTERCEPTED)
        assert opened.site.got("/order", "POST") == []
        assert opened.interception()["request"]["body"] == FINAL
        lines = [one for one in opened.requests() if (one["url"], one["method"]) == (ORDER, "POST")]
        assert [one["body"] for one in lines if one["body"] != {"kind": "draft"}] == [FINAL] * ATTEMPTS[
            name
        ].lines


async def test_a_client_cannot_let_a_service_worker_in(open_site: Any) -> None:
    """It could answer for the worker's script itself, if it were asked; a GET could then be sent ahead."""
    async with open_site({"method": "GET", "params": FINAL}) as opened:
        agent = await opened.page_client()
        await agent.go(f"{LOCAL}/")
        await agent("Fetch.enable", patterns=[{"urlPattern": "*/preloading.js"}])
        answering = asyncio.ensure_future(answer_for_worker(agent))
        registered = (
            "navigator.serviceWorker.register('/preloading.js').then(() => 'registered', () => 'refused')"
        )
        assert await agent.run(registered) == "refused"
        answering.cancel()
        await agent.run("open('/order?kind=final'); 0")
        await intercepted(opened)
        await opened.session.stop(StopReason.INTERCEPTED)
        assert opened.site.got("/order") == []


async def answer_for_worker(agent: AgentClient) -> None:
    await agent(
        "Fetch.fulfillRequest",
        requestId=await paused(agent, "/preloading.js"),
        responseCode=200,
        responseHeaders=[{"name": "Content-Type", "value": "text/javascript"}],
        body=encoded(PRELOADING_WORKER),
    )
