"""What is sent while a page goes, by the browser itself, and by redirects into the pattern."""

from __future__ import annotations

from tests.environments.browser.conftest import AgentClient, Opened, html, redirect, until
from tests.environments.browser.coverage.way import Way, get, local, send

BEACON = "navigator.sendBeacon('/order', 'BODY_')"
FIELD = "<input name=kind value=final>"


def at_close(code: str) -> str:
    """Sent by a popup as it closes."""
    return f"const p = await popup('/frame'); p.eval(`onpagehide = () => {code}`); p.close()"


def kept_alive(path: str) -> str:
    return f"fetch('{path}', {{method: 'POST', body: 'BODY_', keepalive: true}})"


async def closed_over_cdp(opened: Opened, agent: AgentClient) -> None:
    await send(opened, agent, f"(await popup('/frame')).eval(`onpagehide = () => {BEACON}`)")
    pages = (await opened.http("GET", "/json/list")).json()
    tab = next(page["id"] for page in pages if page["url"].endswith("/frame"))
    await opened.http("GET", f"/json/close/{tab}")


async def left_by_navigation(opened: Opened, agent: AgentClient) -> None:
    await send(opened, agent, f"onpagehide = () => {BEACON}")
    await agent("Page.navigate", url="http://other.example/frame")
    await until(lambda: opened.site.got("/frame"))


BEACONS = [
    Way("beacon", BEACON),
    Way("beacon-blob", "navigator.sendBeacon('/order', new Blob(['BODY_'], {type: 'text/plain'}))"),
    Way("beacon-form", "const d = new FormData(); d.set('kind', 'final'); navigator.sendBeacon('/order', d)"),
    Way("beacon-parameters", "navigator.sendBeacon('/order', new URLSearchParams({kind: 'final'}))"),
    Way("beacon-as-the-page-is-left", left_by_navigation),
    Way("beacon-as-the-tab-closes", at_close(BEACON)),
    Way("beacon-as-the-tab-is-closed-over-cdp", closed_over_cdp),
    Way(
        "beacon-redirected-as-the-tab-closes",
        at_close("navigator.sendBeacon('/to/307', 'BODY_')"),
        before=("/to/307",),
    ),
    Way("keepalive-as-the-tab-closes", at_close(kept_alive("/order"))),
    Way("keepalive-redirected-as-the-tab-closes", at_close(kept_alive("/to/308")), before=("/to/308",)),
    Way(
        "ping",
        "form('<a ping=/order href=#>x').firstChild.click()",
        body="PING",
        schema={},
    ),
    local("fetch-later", "fetchLater('/order', {method: 'POST', body: 'BODY_', activateAfter: 0})"),
    local(
        "fetch-later-as-the-tab-closes",
        "const p = await popup('/frame');"
        "p.eval(`fetchLater('/order', {method: 'POST', body: 'BODY_'})`); p.close()",
    ),
    Way(
        "content-security-report",
        "location = '/policy'",
        schema={"body": {"csp-report.violated-directive": "img-src"}},
        body={
            "csp-report": {
                "document-uri": "http://shop.example/policy",
                "referrer": "http://shop.example/",
                "violated-directive": "img-src",
                "effective-directive": "img-src",
                "original-policy": "img-src 'none'; report-uri /order",
                "disposition": "enforce",
                "blocked-uri": "http://shop.example/free",
                "line-number": 1,
                "column-number": 31,
                "source-file": "http://shop.example/policy",
                "status-code": 200,
                "script-sample": "",
            }
        },
    ),
]


def redirected(code: int, kind: str, script: str) -> Way:
    """301, 302 and 303 turn a POST into a GET."""
    make = Way if code >= 307 else get
    return make(f"redirect-{code}-{kind}", script.replace("TO_", f"/to/{code}"), before=(f"/to/{code}",))


FETCH = "await fetch('TO_', {method: 'POST', body: 'BODY_'})"
FORM = f"form('{FIELD}', {{action: 'TO_'}}).submit()"

REDIRECTS = [
    *(redirected(code, "fetch", FETCH) for code in (301, 302, 303, 307, 308)),
    *(redirected(code, "form", FORM) for code in (303, 307)),
    redirected(308, "worker", f"new Worker('/worker.js').postMessage(`{FETCH.removeprefix('await ')}`)"),
    redirected(307, "beacon", "navigator.sendBeacon('TO_', 'BODY_')"),
    redirected(302, "image", "new Image().src = 'TO_'"),
    Way(
        "redirect-from-another-site",
        "await fetch('http://other.example/away', {method: 'POST', body: 'BODY_', mode: 'no-cors'})",
        before=("/away",),
    ),
]


async def loaded_again(opened: Opened, agent: AgentClient) -> None:
    """A page that a form led to is loaded again; this time the site sends the form on."""
    opened.site.pages["/step"] = lambda _asked: (
        html("step") if len(opened.site.got("/step")) == 1 else redirect("307 Moved", "/order")
    )
    await agent("Page.enable")
    agent.events.clear()
    await agent.run(f"form('{FIELD}', {{action: '/step'}}).submit(); 0")
    await until(lambda: any(event["method"] == "Page.loadEventFired" for event in agent.events))
    await agent("Page.reload")


AGAIN = [Way("form-sent-again-by-reload", loaded_again, before=("/step", "/step"), rare=True)]

WAYS = [*BEACONS, *REDIRECTS, *AGAIN]
