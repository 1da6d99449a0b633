"""What a person does in a real Chromium with the extension, as the record tells it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from clawbench.environments.browser.recorder import MASK
from clawbench.results import Action, RequestEntry, StopReason
from tests.environments.browser.extension.person import until

pytestmark = pytest.mark.anyio

SHOP = """<!doctype html><title>Shop</title><body>
<form id="order" method="post" action="/order">
  <input id="name" name="name"><input id="secret" name="secret" type="password">
  <button id="buy">Buy</button>
</form>
<button id="add" onclick="fetch('/cart', {method: 'POST', body: JSON.stringify({tea: 2})})">Add</button>
<script>document.cookie = "login=mine"</script>"""


async def test_a_task_done_by_hand_is_recorded_and_its_last_request_held(
    person: Any, site: Any, recorder: Any
) -> None:
    site.pages["/"] = SHOP
    async with person() as alex, recorder(url_pattern="/order$") as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        await alex.click("#add")
        await alex.click("#name")
        await alex.type("al")
        await alex.click("#secret")
        await alex.type("p")
        await alex.click("#buy")
        reason, _ = await asyncio.wait_for(recorded.recording.over(), 15)
        await recorded.recording.close()
        await alex.shows("#state", "The recording has ended", alex.pairing_tab)
        assert await alex.in_extension("chrome.declarativeNetRequest.getDynamicRules()") == []
        assert await alex.in_extension("chrome.scripting.getRegisteredContentScripts()") == []
        assert await alex.in_extension("chrome.storage.local.get()") == {}
        await alex.open(site.url("/"))
        await alex.evaluate("fetch('/order', {method: 'POST', body: 'mine again'})")

    assert reason is StopReason.INTERCEPTED
    assert site.got("POST", "/order") == [b"mine again"]
    assert recorded.recording.notices == []
    check_actions(recorded)
    check_requests(recorded, site)


def check_actions(recorded: Any) -> None:
    actions = recorded.actions()
    for action in actions:
        Action.model_validate(action)
        assert picture_size(recorded.run.screenshots / action["screenshot"]) > (100, 100)
    assert [(a["type"], a["target"]["id"]) for a in actions] == [
        *[("pageLoad", ""), ("click", "add"), ("click", "name")],
        *[(kind, "name") for _ in "al" for kind in ("keydown", "input", "keyup")],
        *[("change", "name"), ("click", "secret")],
        *[(kind, "secret") for kind in ("keydown", "input", "keyup")],
        *[("change", "secret"), ("click", "buy"), ("submit", "order")],
    ]
    times = [action["timestamp"] for action in actions]
    assert times == sorted(times)
    assert actions[2]["target"]["xpath"] == "/html[1]/body[1]/form[1]/input[1]"
    assert actions[7]["value"] == "al"
    secret = [action for action in actions if action["target"]["id"] == "secret"]
    assert [action.get("key") or action.get("value") for action in secret] == [None, *[MASK] * 4]
    assert len({action["frame"] for action in actions}) == 1


def check_requests(recorded: Any, site: Any) -> None:
    for request in recorded.lines(recorded.run.requests):
        RequestEntry.model_validate(request)
        assert recorded.api.url not in request["url"]
    (page,) = [r for r in recorded.requests("/") if r["resource_type"] == "Document" and r["method"] == "GET"]
    assert page["url"] == site.url("/")
    (cart,) = recorded.requests("/cart")
    assert (cart["method"], cart["body"], cart["resource_type"]) == ("POST", {"tea": 2}, "XHR")
    assert (cart["headers"]["Cookie"], cart["headers"]["Origin"]) == (MASK, site.url(""))
    (order,) = recorded.requests("/order")
    assert (order["blocked"], order["body"]) == (True, {"name": "al", "secret": "p"})
    found = recorded.interception()
    assert (found["intercepted"], found["blocked"]) == (True, True)
    assert found["request"]["body"] == {"name": "al", "secret": "p"}


def picture_size(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


FRAMES = """<!doctype html><title>Frames</title><body style="margin: 0">
<iframe src="http://other.example:{port}/inner" style="border: 0; width: 200px; height: 100px"></iframe>
<div id="host" style="width: 200px; height: 50px"></div>
<button id="popup" onclick="window.open('/popup')">Open</button>
<script>
  const root = document.getElementById("host").attachShadow({{mode: "closed"}});
  root.innerHTML = '<input id="hidden" type="password" style="width: 190px; height: 40px">';
</script>"""


async def test_frames_popups_and_closed_shadow_roots_are_recorded(
    person: Any, site: Any, recorder: Any
) -> None:
    site.pages |= {
        "/": FRAMES.format(port=site.port),
        "/inner": "<body style='margin:0'><button id=inner style='width:200px;height:100px'>Inner</button>",
        "/popup": "<title>Popup</title>",
    }
    async with person() as alex, recorder() as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        await until(lambda: len(recorded.actions("pageLoad")) == 2)
        await alex.click_at(100, 50)
        await alex.click("#host")
        await alex.type("s")
        await alex.click("#popup")
        await until(lambda: len(recorded.actions("pageLoad")) == 3)

    inner, hidden, popup = recorded.actions("click")
    assert (inner["target"]["id"], inner["url"]) == ("inner", site.url("/inner", "other.example"))
    assert inner["frame"] != hidden["frame"] == popup["frame"]
    assert hidden["target"]["id"] == "hidden"
    assert "#shadow-root" in hidden["target"]["xpath"]
    assert [action["key"] for action in recorded.actions("keydown")] == [MASK]
    assert [action["value"] for action in recorded.actions("input")] == [MASK]
    assert recorded.actions("pageLoad")[-1]["title"] == "Popup"


AHEAD = """<title>Now</title><script type=speculationrules>
{"prerender": [{"source": "list", "urls": ["/ahead"], "eagerness": "immediate"}]}</script>"""


async def test_a_page_that_is_only_prepared_has_not_been_visited(
    person: Any, site: Any, recorder: Any
) -> None:
    site.pages |= {
        "/": AHEAD,
        "/ahead": "<title>Ahead</title><script>onload = () => fetch('/loaded')</script>",
        "/after": "<title>After</title>",
    }
    async with person() as alex, recorder() as recorded:
        await alex.pair(recorded)
        # Chrome prepares no pages where a debugger is attached.
        await alex.cdp.send("Target.createTarget", {"url": site.url("/", "localhost")})
        await until(lambda: site.got("GET", "/loaded"))
        await alex.open(site.url("/after"), new_tab=True)
        await until(lambda: recorded.actions("pageLoad")[-1]["title"] == "After")
    assert [action["title"] for action in recorded.actions("pageLoad")] == ["Now", "After"]


WAYS: dict[str, tuple[str, Any]] = {
    "json": ("fetch('/order', {method: 'POST', body: '{\"a\": [1]}'})", {"a": [1]}),
    "form data": (
        "(f => (f.append('a', 'ü'), f.append('a', '2'), fetch('/order', {method: 'POST', body: f})))"
        "(new FormData())",
        {"a": ["ü", "2"]},
    ),
    "file": (
        "(f => (f.append('b', '1'), f.append('cv', new Blob(['x']), 'cv.pdf'), "
        "fetch('/order', {method: 'POST', body: f})))(new FormData())",
        {"b": "1", "cv": {"filename": "cv.pdf", "content_type": "application/octet-stream", "size": None}},
    ),
    "xhr": ("(x => (x.open('POST', '/order'), x.send('plain')))(new XMLHttpRequest())", "plain"),
    "beacon": ("navigator.sendBeacon('/order', 'beacon')", "beacon"),
    "keepalive": ("fetch('/order', {method: 'POST', body: 'kept', keepalive: true})", "kept"),
    "binary": (
        "fetch('/order', {method: 'POST', body: new Uint8Array([0, 255])})",
        "data:application/octet-stream;base64,AP8=",
    ),
    "redirect": ("fetch('/redirect', {method: 'POST', body: 'moved'})", "moved"),
    "worker": (
        "new Worker(URL.createObjectURL(new Blob([`fetch('${location.origin}/order', "
        "{method: 'POST', body: 'from a worker', mode: 'no-cors'})`])))",
        "from a worker",
    ),
    "form in a new tab": (
        "document.body.insertAdjacentHTML('beforeend', '<form method=post action=/order target=_blank>"
        "<input name=q value=1></form>'), document.forms[0].submit()",
        {"q": "1"},
    ),
}


async def test_every_way_of_sending_the_final_request_is_blocked_and_logged_with_its_body(
    person: Any, site: Any, recorder: Any
) -> None:
    async with person() as alex, recorder(params={"never": "this"}) as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        for number, (code, _) in enumerate(WAYS.values(), 1):
            await alex.evaluate(f"void ({code})")
            await until(lambda wanted=number: len(recorded.requests("/order")) == wanted)
        held = await alex.in_extension("chrome.storage.local.get().then((all) => all.session.notice)")

    assert site.got("POST", "/order") == []
    assert site.got("POST", "/redirect") == [b"moved"]
    lines = recorded.requests("/order")
    assert all(line["blocked"] for line in lines)
    assert dict(zip(WAYS, (line["body"] for line in lines), strict=True)) == {
        name: body for name, (_, body) in WAYS.items()
    }
    assert not recorded.run.interception.exists()
    assert held.startswith("Held back, though not the final request: POST")
    told = [notice for notice in recorded.recording.notices if "is not the final request" in notice]
    assert len(told) == len(WAYS)


async def test_a_body_out_of_sight_decides_as_a_match(person: Any, site: Any, recorder: Any) -> None:
    async with person() as alex, recorder(body={"a": 1}) as recorded:
        await alex.pair(recorded)
        await alex.open(site.url("/"), new_tab=True)
        await alex.evaluate(
            "void fetch('/order', {method: 'POST', body: new Blob(['unseen'])}).catch(() => 0)"
        )
        assert (await asyncio.wait_for(recorded.recording.over(), 15))[0] is StopReason.INTERCEPTED
    assert "could not be read" in recorded.interception()["undecidable"]
    assert site.got("POST", "/order") == []
