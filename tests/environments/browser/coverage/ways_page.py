"""Scripts, forms and tabs."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.environments.browser.conftest import AgentClient, Opened, until
from tests.environments.browser.coverage.way import FINAL, PATIENCE_S, SHOP, Way, get, local, send

TARGET = "/order?kind=final"
FIELD = "<input name=kind value=final>"
NO_CORS = "mode: 'no-cors'"
POST = f"fetch('{SHOP}/order', {{method: 'POST', body: 'BODY_', {NO_CORS}}})"


async def press_enter(_opened: Opened, agent: AgentClient) -> None:
    await agent.go(f"{SHOP}/typed")
    await agent.run(
        "const field = document.querySelector('#field'); field.focus(); field.setSelectionRange(4, 4)"
    )
    for key, text in (("l", "l"), ("Enter", "\r")):
        await agent("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        await agent("Input.dispatchKeyEvent", type="keyUp", key=key)


async def click(agent: AgentClient, *, button: str = "left", x: int = 50, y: int = 50) -> None:
    """Press where something is painted: only then does the browser know what is there."""
    await agent.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        await agent("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)


async def click_button(_opened: Opened, agent: AgentClient) -> None:
    button = "<button class=large formaction=/order formmethod=post>go"
    await agent.run(f"form('{FIELD}{button}', {{action: '/free', method: 'get'}}); 0")
    await click(agent)


async def click_link_for_new_tab(_opened: Opened, agent: AgentClient) -> None:
    await agent.run(f"document.body.innerHTML = '<a class=large href=\"{TARGET}\">x</a>'; 0")
    await click(agent, button="middle")


async def press_button_in_pdf(opened: Opened, agent: AgentClient) -> None:
    """The viewer does not say when it is ready: press until it obeys."""
    await agent.go(f"{SHOP}/form.pdf")
    for _ in range(8):
        await click(agent, x=500, y=350)
        with suppress(AssertionError):
            await until(opened.run.interception.exists, within_s=2)
            return


async def form_in_another_charset(opened: Opened, agent: AgentClient) -> None:
    await agent.go(f"{SHOP}/charset")
    await send(opened, agent, "document.forms[0].submit()")


async def new_tab_posts(opened: Opened, _agent: AgentClient) -> None:
    browser = await opened.browser_client()
    target = (await browser("Target.createTarget", url=f"{SHOP}/frame?tab"))["targetId"]
    session = (await browser("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    async with asyncio.timeout(PATIENCE_S):
        # Before the page is there, the tab holds an empty document, from which nothing can be sent.
        while await browser.run("location.pathname", session=session) != "/frame":
            pass
    code = POST.replace("BODY_", '{"kind": "final"}')
    await browser.run(f"{code}.catch(() => 0)", session=session)


async def new_tab_over_cdp(opened: Opened, _agent: AgentClient) -> None:
    browser = await opened.browser_client()
    await browser("Target.createTarget", url=f"{SHOP}{TARGET}")


async def new_tab_over_http(opened: Opened, _agent: AgentClient) -> None:
    await opened.http("PUT", f"/json/new?{SHOP}{TARGET}")


async def file_from_disk(opened: Opened, agent: AgentClient) -> None:
    await agent.go(f"{SHOP}/upload")
    root = (await agent("DOM.getDocument"))["root"]["nodeId"]
    node = (await agent("DOM.querySelector", nodeId=root, selector="#file"))["nodeId"]
    await agent("DOM.setFileInputFiles", files=["/my-info/cv.pdf"], nodeId=node)
    await send(opened, agent, "document.forms[0].submit()")


SCRIPTS = [
    Way("fetch", "await fetch('/order', {method: 'POST', body: 'BODY_'})"),
    Way("fetch-request", "await fetch(new Request('/order', {method: 'POST', body: 'BODY_'}).clone())"),
    Way("fetch-keepalive", "await fetch('/order', {method: 'POST', body: 'BODY_', keepalive: true})"),
    Way(
        "fetch-with-credentials-to-another-site",
        f"await fetch('{SHOP}/order', {{method: 'POST', body: 'BODY_', credentials: 'include', {NO_CORS}}})",
        at="http://other.example/",
    ),
    Way(
        "fetch-with-preflight",
        f"await fetch('{SHOP}/order', {{method: 'POST', body: 'BODY_', headers: {{'x-custom': '1'}}}})",
        at="http://other.example/",
    ),
    Way("xhr", "const x = new XMLHttpRequest(); x.open('POST', '/order'); x.send('BODY_')"),
    Way(
        "xhr-synchronous", "const x = new XMLHttpRequest(); x.open('POST', '/order', false); x.send('BODY_')"
    ),
]

FORMS = [
    Way("form", f"form('{FIELD}').submit()"),
    Way("form-request-submit", f"form('{FIELD}').requestSubmit()"),
    Way("form-enter-key", press_enter),
    Way("form-button-with-formaction", click_button),
    Way(
        "form-multipart-with-file",
        f"const f = form('{FIELD}<input type=file name=cv>', {{enctype: 'multipart/form-data'}});"
        "const d = new DataTransfer(); d.items.add(new File(['%PDF'], 'cv.pdf', {type: 'application/pdf'}));"
        "f.elements.cv.files = d.files; f.submit()",
        body=FINAL | {"cv": {"filename": "cv.pdf", "content_type": "application/pdf", "size": 4}},
    ),
    Way(
        "form-multipart-with-file-on-disk",
        file_from_disk,
        body={
            "kind": "other",
            "file": {"filename": "cv.pdf", "content_type": "application/pdf", "size": None},
        },
        undecidable=True,
    ),
    Way("form-text-plain", f"form('{FIELD}', {{enctype: 'text/plain'}}).submit()"),
    Way(
        "form-text-plain-of-several-lines",
        f"const f = form('{FIELD}<textarea name=note></textarea>', {{enctype: 'text/plain'}});"
        "f.elements.note.value = 'one\\ntwo'; f.submit()",
        body=FINAL | {"note": "one\r\ntwo"},
    ),
    Way(
        "form-in-another-charset",
        form_in_another_charset,
        schema={"body": {"kind": "確定"}},
        body={"kind": "確定".encode("shift_jis").decode("cp1252")},
    ),
    Way("form-in-new-tab", f"form('{FIELD}', {{target: '_blank'}}).submit()"),
    Way("form-in-named-window", f"await popup('/frame', 'w'); form('{FIELD}', {{target: 'w'}}).submit()"),
    Way("form-in-frame", f"await frame('/frame', {{name: 'f'}}); form('{FIELD}', {{target: 'f'}}).submit()"),
    Way(
        "form-in-pdf",
        press_button_in_pdf,
        schema={},
        body="%FDF-1.2\r\n1 0 obj\r\n<</FDF<</F<</F(http://shop.example/form.pdf)/Type/Filespec"
        "/UF(http://shop.example/form.pdf)>>/Fields[<</T(kind)/V(final)>>]>>>>\r\nendobj\r\n\r\n"
        "trailer\r\n<</Root 1 0 R>>\r\n%%EOF\r\n",
    ),
]

TABS = [
    Way("popup-fetch", f"(await popup('/frame')).postMessage(`{POST}`)"),
    Way(
        "popup-without-page",
        f"const p = open(''); p.document.write(`<form method=post action={SHOP}/order>{FIELD}</form>`);"
        "p.document.forms[0].submit()",
    ),
    local(
        "picture-in-picture",
        "const p = await documentPictureInPicture.requestWindow();"
        "p.eval(`fetch('/order', {method: 'POST', body: 'BODY_'})`)",
        rare=True,
    ),
    Way("tab-over-cdp-fetch", new_tab_posts),
    get("popup-first-request", f"open('{TARGET}')"),
    get("tab-over-cdp", new_tab_over_cdp),
    get("tab-over-http", new_tab_over_http),
    get("link-in-new-tab", f"form('<a target=_blank rel=noopener href={TARGET}>x').firstChild.click()"),
    get("link-middle-click", click_link_for_new_tab),
]

WAYS = [*SCRIPTS, *FORMS, *TABS]
