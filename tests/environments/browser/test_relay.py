"""The relay in front of a real browser: an agent can browse, and can reach nothing else."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.recorder import BINDING, WORLD
from clawbench.errors import EnvironmentFailedError
from clawbench.results import StopReason, read_json_lines

pytestmark = pytest.mark.anyio

FORBIDDEN: list[tuple[str, dict[str, Any]]] = [
    ("Page.navigate", {"url": "file:///etc/passwd"}),
    ("Page.navigate", {"url": "chrome://version"}),
    ("DOM.setFileInputFiles", {"files": ["/etc/passwd"], "nodeId": 1}),
    ("Network.loadNetworkResource", {"url": "http://shop.example/order", "options": {}}),
    ("Runtime.addBinding", {"name": BINDING}),
    ("Runtime.addBinding", {"name": "JSON"}),
    ("Page.addScriptToEvaluateOnNewDocument", {"source": "1", "worldName": WORLD}),
    ("Runtime.evaluate", {"expression": "1", "contextId": 9999}),
    ("Target.createBrowserContext", {"proxyServer": "direct://"}),
    ("Browser.close", {}),
    ("Emulation.setScriptExecutionDisabled", {"value": True}),
    ("Debugger.enable", {}),
    ("Page.close", {}),
]


async def test_an_agent_can_browse_and_nothing_else(open_session: Any, until: Any, refused: Any) -> None:
    async with open_session({}) as opened:
        await check_http(opened)
        browser = await opened.browser_client()
        page = await opened.page_client()
        await page.go("http://shop.example/")
        assert await page.run("document.title") == "Shop"
        for method, params in FORBIDDEN:
            with pytest.raises(refused, match=r"Not allowed here|Cannot find context"):
                await page(method, **params)
        await check_contexts(page, refused)
        await check_sessions(browser, page, refused)
        await check_host_ports(page)
        await check_interference(opened, browser, page, until)
        await opened.session.stop(StopReason.AGENT_EXITED)
        assert opened.site.got("/order") == []
        log = list(read_json_lines(opened.run.relay_log))
        assert {entry["method"] for entry in log if entry["decision"].startswith("refused")} >= {
            method for method, _ in FORBIDDEN
        }
        assert not opened.config.relay_socket.exists()


async def check_http(opened: Any) -> None:
    """The endpoints that CDP clients look for, on local names only."""
    pages = (await opened.http("GET", "/json")).json()
    assert [page["type"] for page in pages] == ["page"]
    assert pages[0]["webSocketDebuggerUrl"].startswith("ws://localhost:9222/devtools/page/")
    assert (await opened.http("GET", "/json/version", headers={"Host": "evil.example"})).status_code == 500
    foreign = {"Origin": "http://shop.example"}
    assert (await opened.http("GET", "/json/version", headers=foreign)).status_code == 403
    assert (await opened.http("GET", "/json/new?about:blank")).status_code == 405
    assert (await opened.http("PUT", "/json/new?file:///etc/passwd")).status_code == 403
    new = (await opened.http("PUT", "/json/new?http://shop.example/frame")).json()
    assert (await opened.http("GET", f"/json/activate/{new['id']}")).status_code == 200
    assert (await opened.http("GET", f"/json/close/{new['id']}")).status_code == 200
    assert (await opened.http("GET", "/json/close/nonsense")).status_code == 404
    assert (await opened.http("GET", "/etc/passwd")).status_code == 404


async def check_contexts(page: Any, refused: Any) -> None:
    """The recorder's world is neither shown nor usable."""
    page.events.clear()
    await page("Runtime.enable")
    contexts = [
        event["params"]["context"]
        for event in page.events
        if event["method"] == "Runtime.executionContextCreated"
    ]
    assert contexts
    assert all(context["name"] != WORLD for context in contexts)
    known = {context["id"] for context in contexts}
    for number in set(range(1, 40)) - known:
        with pytest.raises(refused, match="Cannot find context"):
            await page("Runtime.evaluate", expression=f"typeof {BINDING}", contextId=number)
    assert await page.run(f"typeof {BINDING}") == "undefined"


async def test_contexts_of_the_last_document_are_not_those_of_the_next(
    open_session: Any, refused: Any
) -> None:
    """In a new process contexts are counted from one again; one of them is the recorder's."""
    async with open_session({}) as opened:
        page = await opened.page_client()
        await page.go("http://shop.example/")
        frame = (await page("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        worlds = [await page("Page.createIsolatedWorld", frameId=frame) for _ in range(20)]
        numbers = [world["executionContextId"] for world in worlds]
        for number in numbers:
            await page("Runtime.evaluate", expression="1", contextId=number)
        await page.go("http://other.example/")
        for number in numbers:
            with pytest.raises(refused, match="Cannot find context"):
                await page("Runtime.evaluate", expression="1", contextId=number)
        world = await page("Page.createIsolatedWorld", frameId=frame)
        await page("Runtime.evaluate", expression="1", contextId=world["executionContextId"])


async def test_pages_closed_at_one_go_leave_one_open(open_session: Any, refused: Any) -> None:
    async with open_session({}) as opened:
        browser = await opened.browser_client()
        await browser("Target.createTarget", url="http://shop.example/")
        pages = [
            target["targetId"]
            for target in (await browser("Target.getTargets"))["targetInfos"]
            if target["type"] == "page"
        ]
        closed = await asyncio.gather(
            *(browser("Target.closeTarget", targetId=page) for page in pages), return_exceptions=True
        )
        assert [isinstance(one, refused) for one in closed] == [False, True]
        left = await opened.http("GET", "/json/list")
        assert pages[1] in [page["id"] for page in left.json()]


async def test_nobody_gets_hold_of_the_recorders_listeners(open_session: Any, refused: Any) -> None:
    async with open_session({}) as opened:
        page = await opened.page_client()
        await page.go("http://shop.example/")
        await page.run(
            "document.body.innerHTML = '<div id=host></div>'; root = host.attachShadow({mode: 'open'});"
            "root.innerHTML = '<input>'; root.addEventListener('change', () => 0);"
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        root = (await page("Runtime.evaluate", expression="root"))["result"]["objectId"]
        listeners = (await page("DOMDebugger.getEventListeners", objectId=root, depth=-1))["listeners"]
        assert [one["type"] for one in listeners] == ["change"]
        with pytest.raises(refused, match="other worlds"):
            await page("DOMDebugger.getEventListeners", objectId=root, pierce=True)
        console = {"expression": "Object.values(getEventListeners(root)).flat().length"}
        found = await page("Runtime.evaluate", includeCommandLineAPI=True, **console)
        assert found["result"]["value"] == 1


async def check_sessions(browser: Any, page: Any, refused: Any) -> None:
    """A client has its own sessions, and nobody else's."""
    targets = (await browser("Target.getTargets"))["targetInfos"]
    assert {target["type"] for target in targets} <= {"page", "iframe"}
    target = next(one["targetId"] for one in targets if "shop.example" in one["url"])
    session = (await browser("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    assert await browser.run("document.title", session=session) == "Shop"
    with pytest.raises(refused, match="not found"):
        await page.run("1", session=session)
    with pytest.raises(refused, match="no such session"):
        await page("Target.detachFromTarget", sessionId=session)
    with pytest.raises(refused, match="pages only"):
        await browser("Fetch.enable")


async def check_host_ports(page: Any) -> None:
    """Nothing on the host's loopback answers, whatever it is called."""
    for host in ("127.0.0.1", "0.0.0.0", "[::1]", "10.0.0.1"):
        sent = f"fetch('http://{host}:8000/', {{mode: 'no-cors'}})"
        assert await page.run(f"{sent}.then(() => 'reached', () => 'failed')") == "failed"


async def check_interference(opened: Any, browser: Any, page: Any, until: Any) -> None:
    """A second Fetch client cannot turn a harmless request into the final one, nor let that one go."""
    await page("Fetch.enable")
    for path in ("/free?again", "/order"):
        page.events.clear()
        await page.run(
            f"window.sent = fetch('{path}', {{method: 'POST', body: 'x'}}).then(() => 1, () => 0); 0"
        )
        paused = await until(lambda: [e for e in page.events if e["method"] == "Fetch.requestPaused"])
        await page(
            "Fetch.continueRequest",
            requestId=paused[0]["params"]["requestId"],
            url="http://shop.example/order",
            method="POST",
            postData=base64.b64encode(b"y").decode(),
        )
        assert await page.run("window.sent") == 0
    await page("Fetch.disable")
    await page("Network.enable")
    await page("Network.disable")
    assert await page.run("fetch('/order', {method: 'POST'}).then(() => 1, () => 0)") == 0
    new = (await browser("Target.createTarget", url="http://shop.example/frame"))["targetId"]
    fresh = (await browser("Target.attachToTarget", targetId=new, flatten=True))["sessionId"]
    sent = "fetch('http://shop.example/order', {method: 'POST', mode: 'no-cors'}).then(() => 1, () => 0)"
    assert await browser.run(sent, session=fresh) == 0


async def test_without_a_sandbox_it_works_too(open_session: Any, until: Any) -> None:
    async with open_session({}, sandbox="none") as opened:
        page = await opened.page_client()
        await page.go("http://shop.example/")
        assert await page.run("fetch('/order', {method: 'POST'}).then(() => 1, () => 0)") == 0
        last = await opened.session.stop(StopReason.INTERCEPTED)
        assert last.event == "closed"
        assert opened.site.got("/order") == []
        assert opened.interception()["intercepted"] is True


async def test_a_browser_that_is_not_there_is_one_clear_error(open_session: Any, tmp_path: Path) -> None:

    with pytest.raises(EnvironmentFailedError, match="did not start"):
        async with open_session({}, program=Path("/usr/bin/false")):
            pass
    assert not (tmp_path / "scratch" / "session").exists()
