"""What a person or an agent does in a real Chromium, as actions.jsonl tells it."""

from __future__ import annotations

import asyncio
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from clawbench.environments.browser.video import Video
from clawbench.results import Action

pytestmark = pytest.mark.anyio

FORM = """<!doctype html><title>Order</title><body>
<form id="order" class="big form" onsubmit="event.preventDefault()">
  <p>First</p><p>Second</p>
  <input id="name"><select id="size"><option>S<option>M</select><input type="checkbox" id="gift">
  <button id="buy">  Buy now</button>
</form><div style="height: 4000px"></div>"""


async def test_every_type_of_action_is_recorded_with_its_fields(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = FORM
        await stage.open("/")
        await stage.click("#name")
        await stage.type("x")
        await stage.click("#gift")
        await stage.click("#buy")
        await stage.evaluate("scrollTo(0, 700)")
        await stage.until(lambda: stage.actions("scroll"))
        actions = stage.actions()

    for action in actions:
        Action.model_validate(action)
        assert isinstance(action["timestamp"], int)
        assert action["url"] == stage.site.url("/")
        assert action["trusted"] is True
    assert [(a["type"], a["target"]["id"]) for a in actions] == [
        ("pageLoad", ""),
        ("click", "name"),
        ("keydown", "name"),
        ("input", "name"),
        ("keyup", "name"),
        ("change", "name"),
        ("click", "gift"),
        ("input", "gift"),
        ("change", "gift"),
        ("click", "buy"),
        ("submit", "order"),
        ("scroll", ""),
    ]
    load, click, keydown, typed, *_ = actions
    assert load["title"] == "Order"
    assert click["target"]["xpath"] == "/html[1]/body[1]/form[1]/input[1]"
    assert click["x"] > 0
    assert keydown["key"] == "x"
    assert typed["value"] == "x"
    assert actions[8]["checked"] is True
    assert actions[9]["target"] == {
        "tagName": "BUTTON",
        "id": "buy",
        "className": "",
        "textContent": "Buy now",
        "xpath": "/html[1]/body[1]/form[1]/button[1]",
    }
    assert actions[10]["target"]["className"] == "big form"
    assert actions[11]["scrollY"] == 700


async def test_long_texts_and_values_are_cut_at_the_documented_lengths(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = f"<button id=b>{'t' * 98}😀😀</button><textarea id=a>{'v' * 300}</textarea>"
        await stage.open("/")
        await stage.click("#b")
        await stage.click("#a")
        await stage.send("Input.insertText", {"text": "w"})
        await stage.evaluate("a.id = 'i'.repeat(9000); history.pushState(0, '', '?' + 'q'.repeat(9000))")
        await stage.send("Input.insertText", {"text": "w"})
        await stage.until(lambda: len(stage.actions("input")) == 2)
        await stage.evaluate("e = document.createElement('x-' + 'e'.repeat(9000)); e.textContent = 'odd'")
        await stage.evaluate("document.body.prepend(e)")
        await stage.click_at(*await stage.centre("e"))
        await stage.until(lambda: len(stage.actions("click")) == 3)
        assert len(stage.actions("click")[2]["target"]["tagName"]) == 1000
        button, (typed, long) = stage.actions("click", "input")[0], stage.actions("input")
    assert button["target"]["textContent"] == "t" * 98 + "😀"
    assert len(typed["value"]) == 200
    assert (len(long["target"]["id"]), len(long["url"])) == (1000, 8192)


async def test_scrolling_is_thinned_out_but_the_last_position_is_kept(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<div id=box style='height:200px;overflow:auto'><div style='height:9000px'></div></div>"
        )
        await stage.open("/")
        await stage.evaluate(
            "new Promise(done => { let n = 0; (function step() {"
            " box.scrollTop = ++n * 10; n < 60 ? requestAnimationFrame(step) : done(); })(); })"
        )
        await stage.until(lambda: stage.actions("scroll")[-1]["scrollY"] == 600)
        scrolls = stage.actions("scroll")
    assert {a["target"]["id"] for a in scrolls} == {"box"}
    assert 2 <= len(scrolls) < 40
    gaps = [b["timestamp"] - a["timestamp"] for a, b in pairwise(scrolls)]
    assert min(gaps) >= 90


async def test_frames_of_other_sites_and_popups_are_recorded(stage_at: Any) -> None:
    async with stage_at() as stage:
        button = "<title>In {0}</title><button id={0} style='position:fixed;inset:0;width:99%'>{0}</button>"
        stage.site.pages |= {f"/{name}": button.format(name) for name in ("near", "far", "popup", "blank")}
        stage.site.pages["/"] = (
            f"<iframe src='/near'></iframe><iframe src='{stage.site.url('/far', 'b.example')}'></iframe>"
        )
        await stage.open("/")
        for index in (0, 1):
            await stage.click_at(*await stage.centre(f"document.querySelectorAll('iframe')[{index}]"))
        await click_in_popup(stage, "window.open('/popup')")
        # The Window of the initial empty document lives on in a same-origin page.
        await click_in_popup(stage, "w = window.open(''); w.location = '/blank'")
        await stage.until(lambda: len(stage.actions("click")) == 4)
        clicks, loads = stage.actions("click"), stage.actions("pageLoad")
    assert [a["target"]["id"] for a in clicks] == ["near", "far", "popup", "blank"]
    assert len({a["frame"] for a in clicks}) == 4
    assert clicks[1]["url"] == stage.site.url("/far", "b.example")
    assert {a["title"] for a in loads} >= {"In near", "In far", "In popup", "In blank"}


async def click_in_popup(stage: Any, opening: str) -> None:
    await stage.click_at(100, 100, await opened_popup(stage, opening))


async def opened_popup(stage: Any, opening: str) -> str:
    """A session in the popup that this script opens, once it is on the screen."""
    before = {t["targetId"] for t in (await stage.cdp.send("Target.getTargets"))["targetInfos"]}
    loads = len(stage.actions("pageLoad"))
    await stage.evaluate(f"{opening}; 1")
    await stage.until(lambda: len(stage.actions("pageLoad")) > loads)
    targets = (await stage.cdp.send("Target.getTargets"))["targetInfos"]
    popup = next(t for t in targets if t["targetId"] not in before and t["type"] == "page")
    session: str = await stage.session_of(popup["targetId"])
    await stage.shown(session)
    return session


async def test_three_hundred_actions_at_full_speed_are_all_recorded(
    stage_at: Any,
) -> None:
    async with stage_at(intercept=True) as stage:
        whole = "<button id={} style='position:fixed;inset:0'>x</button>"
        stage.site.pages |= {"/far": whole.format("far"), "/popup": whole.format("popup")}
        stage.site.pages["/"] = (
            "<button id=near style='height:60px'>near</button><div id=host></div>"
            f"<iframe src='{stage.site.url('/far', 'b.example')}'></iframe><script>"
            "root = host.attachShadow({mode: 'closed'});"
            "root.innerHTML = '<input type=checkbox id=box style=\"width:60px;height:60px\">'</script>"
        )
        await stage.open("/")
        places = (
            "document.querySelector('#near')",
            "root.querySelector('#box')",
            "document.querySelector('iframe')",
        )
        centres = [await stage.centre(place) for place in places]
        for number in range(225):
            await stage.click_at(*centres[number % 3])
        session = await opened_popup(stage, "window.open('/popup')")
        for _ in range(75):
            await stage.click_at(200, 200, session)
        await stage.until(lambda: len(stage.actions("click")) == 300)
        await stage.recorder.close()
        actions = stage.actions()
    clicks = [a["target"]["id"] for a in actions if a["type"] == "click"]
    assert clicks == ["near", "box", "far"] * 75 + ["popup"] * 75
    assert sum(a["type"] == "change" for a in actions) == 75
    assert [a["timestamp"] for a in actions] == sorted(a["timestamp"] for a in actions)
    names = [a["screenshot"] for a in actions]
    assert len(set(names)) == len(names)
    assert {path.name for path in stage.run.screenshots.iterdir()} == set(names)
    for name in names[::50]:
        with Image.open(stage.run.screenshots / name) as picture:
            assert picture.size == (1920, 1080)
    assert stage.recorder.problems == []


async def test_a_document_written_anew_is_still_recorded(stage_at: Any) -> None:
    async with stage_at() as stage:
        await stage.open("/")
        await stage.evaluate(
            "document.open(); document.write('<button id=again>again</button>'); document.close()"
        )
        await stage.click("#again")
        await stage.until(lambda: stage.actions("click"))
        assert [a["target"]["id"] for a in stage.actions("click")] == ["again"]


SHADOW = """<body><div id="host"></div><form id="outer"></form><script>
root = host.attachShadow({mode: MODE});
root.innerHTML = '<form id=inside onsubmit="event.preventDefault()"><input id=text>'
  + '<button id=send>Send</button></form>';
</script>"""


async def act_inside_shadow_root(stage: Any) -> list[dict[str, Any]]:
    await stage.click_at(*await stage.centre("root.querySelector('#text')"))
    await stage.type("q")
    await stage.click_at(*await stage.centre("root.querySelector('#send')"))
    await stage.until(lambda: stage.actions("submit"))
    return [a for a in stage.actions() if a["type"] != "pageLoad"]


async def test_inside_a_closed_shadow_root_the_inner_element_is_named(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = SHADOW.replace("MODE", "'closed'")
        await stage.open("/")
        actions = await act_inside_shadow_root(stage)
    assert [(a["type"], a["target"]["id"]) for a in actions] == [
        ("click", "text"),
        ("keydown", "text"),
        ("input", "text"),
        ("keyup", "text"),
        ("change", "host"),
        ("click", "send"),
        ("submit", "host"),
    ]
    assert actions[0]["target"]["xpath"] == "/html[1]/body[1]/div[1]/#shadow-root/form[1]/input[1]"
    assert actions[4]["value"] == "q"


async def test_inside_an_open_shadow_root_every_event_names_the_inner_element(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = SHADOW.replace("MODE", "'open'")
        await stage.open("/")
        actions = await act_inside_shadow_root(stage)
    assert [a["target"]["id"] for a in actions] == ["text"] * 5 + ["send", "inside"]


async def test_a_closed_shadow_root_met_for_the_first_time_is_looked_into(stage_at: Any) -> None:
    """A host with children of its own gives no hint of its root before it is touched."""
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<div id=host>light</div><script>root = host.attachShadow({mode: 'closed'});"
            "root.innerHTML = '<button id=deep>deep</button>'</script>"
        )
        await stage.open("/")
        await stage.click_at(*await stage.centre("root.querySelector('#deep')"))
        await stage.until(lambda: stage.actions("click"))
        assert stage.actions("click")[0]["target"]["id"] == "deep"


async def test_an_element_that_becomes_a_host_later_is_looked_into_again(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<late-card id=host style='display:block;width:300px;height:100px'></late-card>"
        )
        await stage.open("/")
        await stage.click("#host")
        await stage.evaluate(
            "customElements.define('late-card', class extends HTMLElement { connectedCallback() {"
            " window.root = this.attachShadow({mode: 'closed'});"
            " root.innerHTML = '<button id=deep>deep</button>'; } })"
        )
        await stage.click_at(*await stage.centre("root.querySelector('#deep')"))
        await stage.until(lambda: len(stage.actions("click")) == 2)
        assert [a["target"]["id"] for a in stage.actions("click")] == ["host", "deep"]


async def test_a_dialog_that_stops_the_page_does_not_stop_the_record(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = "<div id=d onclick='alert(1)'>Ask me</div>"
        await stage.open("/")
        await stage.send("Page.enable")
        opened = asyncio.Event()
        stage.cdp.on("Page.javascriptDialogOpening", lambda params, session: opened.set())
        x, y = await stage.centre("document.querySelector('#d')")
        mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            stage.cdp.notify("Input.dispatchMouseEvent", {"type": kind, **mouse}, stage.session)
        await opened.wait()
        await stage.until(lambda: stage.actions("click"))
        await stage.send("Page.handleJavaScriptDialog", {"accept": True})
        assert stage.actions("click")[0]["target"]["id"] == "d"


async def test_a_blinking_cursor_does_not_keep_the_screen_from_being_quiet(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = "<input id=i style='font-size:40px'>"
        await stage.open("/")
        await stage.click("#i")
        video = Video(stage.screen, stage.run.recording)
        await video.start()
        quiet = await video.quiet(1.3, 4.0)
        await video.stop()
        assert quiet
        assert len(video_steps(stage.run.recording)) > 2, "the cursor did not blink"


def video_steps(path: Path) -> list[str]:
    command = ["ffprobe", "-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", str(path)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()


async def test_a_hundred_rapid_actions_are_all_kept_in_order(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<button id=b onclick='this.textContent = ++n' style='width:90%;height:400px'>0</button>"
            "<script>n = 0</script>"
        )
        await stage.open("/")
        x, y = await stage.centre("document.querySelector('#b')")
        mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for _ in range(100):
            for kind in ("mousePressed", "mouseReleased"):
                stage.cdp.notify("Input.dispatchMouseEvent", {"type": kind, **mouse}, stage.session)
        await stage.until(lambda: len(stage.actions("click")) == 100)
        await stage.recorder.close()
        actions = stage.actions()
    clicks = [a for a in actions if a["type"] == "click"]
    assert [a["target"]["textContent"] for a in clicks] == [str(n) for n in range(100)]
    assert [a["timestamp"] for a in actions] == sorted(a["timestamp"] for a in actions)
    names = [a["screenshot"] for a in actions]
    assert len(set(names)) == len(names) == stage.recorder.actions
    assert {path.name for path in stage.run.screenshots.iterdir()} == set(names)
    assert stage.recorder.problems == []


async def test_a_screenshot_shows_what_had_been_typed_before_the_action(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<body style='background:white'><input id=i oninput=\"document.body.style.background = 'lime'\""
            " style='font-size:60px'><button id=b>OK</button>"
        )
        await stage.open("/")
        await stage.click("#i")
        await stage.until(lambda: stage.recorder.screenshots == 2)
        await stage.type("Alex Green")
        await stage.shown()
        await stage.click("#b")
        await stage.until(lambda: len(stage.actions("click")) == 2)
        await stage.recorder.close()
        before, after = (Image.open(stage.run.screenshots / a["screenshot"]) for a in stage.actions("click"))
    assert before.size == after.size == (1920, 1080)
    assert before.getpixel((1000, 800)) == (255, 255, 255)
    assert after.getpixel((1000, 800)) == (0, 255, 0)
