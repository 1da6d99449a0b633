"""Pages can neither see the recorder nor write into its record, nor get in its way."""

from __future__ import annotations

from typing import Any

import pytest

from clawbench.environments.browser.recorder import BINDING, WORLD

pytestmark = pytest.mark.anyio

HOSTILE = f"""<body><script>
before = Object.getOwnPropertyNames(window).sort().join();
heard = [];
for (const {{ prototype }} of [EventTarget, Node, Element, Document])
  for (const [name, {{ value }}] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (typeof value === 'function' && name !== 'constructor')
      prototype[name] = function (...a) {{ heard.push(name); return value.apply(this, a); }};
JSON.stringify = () => {{ heard.push('stringify'); return 'spoiled'; }};
Date.now = () => {{ heard.push('now'); return 0; }};
window.{BINDING} = (...a) => heard.push('binding');
window.recorder = {{ disarm: () => heard.push('disarm') }};
</script>
<img name="title"><img name="documentElement"><img name="createTreeWalker"><a id="{BINDING}"></a>
<form id="order" onsubmit="event.preventDefault()"><input name="id"><input name="tagName">
<input name="parentNode"><input name="getAttribute"><input name="className">
<button id="send">Send</button></form>"""


async def test_a_hostile_page_neither_hears_nor_spoils_the_recorder(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = HOSTILE
        await stage.open("/")
        await stage.evaluate("heard.length = 0")
        x, y = await stage.centre("document.getElementById('send')")
        await stage.evaluate("heard.length = 0")
        await stage.click_at(x, y)
        await stage.until(lambda: stage.actions("submit"))
        heard = await stage.evaluate("heard")
        click, submit = stage.actions("click", "submit")
    assert heard == []
    assert click["target"]["id"] == "send"
    assert submit["target"] == {
        "tagName": "FORM",
        "id": "order",
        "className": "",
        "textContent": "Send",
        "xpath": "/html[1]/body[1]/form[1]",
    }


async def test_a_page_has_no_trace_of_the_recorder_in_its_world(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = f"<script>names = Object.getOwnPropertyNames(window)</script>{WORLD}"
        await stage.open("/")
        names = await stage.evaluate("names.concat(Object.getOwnPropertyNames(window))")
        assert not [name for name in names if "recorder" in name or "clawbench" in name.lower()]
        assert await stage.evaluate(f"typeof {BINDING} + typeof recorder") == "undefinedundefined"
        assert await stage.evaluate("document.documentElement.outerHTML.includes('script>names')")
        assert await stage.evaluate("document.querySelectorAll('script').length") == 1


async def test_events_made_by_scripts_are_not_recorded_as_actions(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<form id=f onsubmit='event.preventDefault()'><input id=i><button id=b>B</button></form>"
        )
        await stage.open("/")
        await stage.evaluate(
            "b.dispatchEvent(new MouseEvent('click', {bubbles: true}));"
            "i.dispatchEvent(new KeyboardEvent('keydown', {key: 'forged', bubbles: true}));"
            "i.dispatchEvent(new Event('input', {bubbles: true}));"
            "f.dispatchEvent(new Event('submit', {bubbles: true}));"
            "for (const type of ['load', 'DOMContentLoaded', 'pagehide', 'prerenderingchange'])"
            "  dispatchEvent(new Event(type));"
            "dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}));"
        )
        # The browser's own event, whoever asked for it.
        await stage.evaluate("f.requestSubmit()")
        await stage.click("#i")
        await stage.until(lambda: stage.actions("click"))
        recorded = [a["type"] for a in stage.actions()]
    assert recorded.count("submit") == 2  # the forged click also made the browser submit
    assert [t for t in recorded if t not in ("submit", "change")] == ["pageLoad", "click"]


async def test_nothing_is_left_waiting_for_the_debugger(stage_at: Any) -> None:
    """Nested workers and frames run, although each starts paused."""
    async with stage_at() as stage:
        stage.site.pages["/outer.js"] = "new Worker('/inner.js').onmessage = e => postMessage(e.data)"
        stage.site.pages["/inner.js"] = "postMessage('from the inner worker')"
        stage.site.pages["/"] = "<title>t</title>"
        await stage.open("/")
        said = await stage.evaluate(
            "new Promise(done => new Worker('/outer.js').onmessage = e => done(e.data))"
        )
    assert said == "from the inner worker"


async def test_a_form_that_shadows_its_own_methods_hides_no_shadow_root(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = "<p>x</p>"
        await stage.open("/")
        await stage.evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<form><input name=querySelectorAll>'"
            " + '<input name=isConnected><input name=matches></form><div id=host></div>');"
            "root = host.attachShadow({mode: 'open'});"
            "root.innerHTML = '<form id=inner onsubmit=\"event.preventDefault()\"></form>'"
        )
        await stage.shown()
        await stage.evaluate("root.querySelector('#inner').requestSubmit()")
        await stage.until(lambda: stage.actions("submit"))
        assert stage.actions("submit")[0]["target"]["id"] == "inner"
