"""Pages that are put together in uncommon ways are recorded like any other."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio

FIELDS = (
    "<div id=part><button id=press style=width:90px;height:90px>Press</button><input id=secret type=password>"
    "<div id=host></div></div>"
    "<script>host.attachShadow({mode: `open`}).innerHTML = `<input id=inner>`</script>"
)


async def test_what_a_page_moves_to_another_of_its_documents_is_recorded_there(
    stage_at: Any,
) -> None:
    async with stage_at() as stage:
        stage.site.pages |= {"/": "<iframe src=/part></iframe>", "/part": FIELDS}
        await stage.open("/")
        await stage.evaluate("document.body.prepend(frames[0].document.querySelector('#part'))")
        await stage.shown()
        await stage.click("#press")
        await stage.click("#secret")
        await stage.type("p")
        await stage.click_at(*await stage.centre("document.querySelector('#host').shadowRoot.firstChild"))
        await stage.type("q")
        await stage.evaluate("document.querySelector('iframe').remove()")
        await stage.click("#press")
        await stage.until(lambda: len(stage.actions("click")) == 4 and len(stage.actions("change")) == 2)
        actions = [action for action in stage.actions() if action["type"] not in ("pageLoad", "scroll")]
    assert {action["url"] for action in actions} == {stage.site.url("/")}
    assert [(a["type"], a["target"]["id"], a.get("key") or a.get("value")) for a in actions] == [
        ("click", "press", None),
        ("click", "secret", None),
        ("keydown", "secret", "••••"),
        ("input", "secret", "••••"),
        ("keyup", "secret", "••••"),
        ("change", "secret", "••••"),
        ("click", "inner", None),
        ("keydown", "inner", "q"),
        ("input", "inner", "q"),
        ("keyup", "inner", "q"),
        ("change", "inner", "q"),
        ("click", "press", None),
    ]


async def test_a_frame_that_allows_no_scripts_is_recorded(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages |= {
            "/": "<iframe sandbox src=/still style=width:300px;height:300px></iframe>",
            "/still": (
                "<title>Still</title><div id=host><template shadowrootmode=closed>"
                "<button id=inner style=width:200px;height:90px>In</button></template></div>"
                "<div style=height:9000px></div>"
            ),
        }
        await stage.send("Page.navigate", {"url": stage.site.url("/")})
        await stage.until(lambda: "Still" in {load["title"] for load in stage.actions("pageLoad")})
        await stage.shown()
        await stage.click_at(60, 60)
        for row in range(1, 4):
            wheel = {"type": "mouseWheel", "x": 60, "y": 60, "deltaX": 0, "deltaY": 100}
            await stage.send("Input.dispatchMouseEvent", wheel)
            await stage.until(lambda row=row: stage.actions()[-1]["scrollY"] == 100 * row)
        clicks = stage.actions("click")
    assert [click["target"]["id"] for click in clicks] == ["inner"]


async def test_keys_on_a_page_that_is_busy_for_a_moment_are_not_masked(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = (
            "<script>onkeydown = () => { const end = performance.now() + 500;"
            " while (performance.now() < end); }</script><div>a game</div>"
        )
        await stage.open("/")
        await stage.type("w")
        await stage.until(lambda: stage.actions("keyup"))
        keys = [action["key"] for action in stage.actions("keydown", "keyup")]
    assert keys == ["w", "w"]


async def test_a_blank_document_that_a_script_fills_is_announced_once_somebody_acts_in_it(
    stage_at: Any,
) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = "<iframe></iframe><iframe></iframe>"
        await stage.open("/")
        fill = "frames[0].document.body.innerHTML = '<button style=\"width: 250px; height: 90px\">B</button>'"
        await stage.evaluate(f"frames[0].document.title = 'Filled'; {fill}")
        await stage.shown()
        await stage.click_at(60, 60)
        await stage.click_at(60, 60)
        await stage.until(lambda: len(stage.actions("click")) == 2)
        await stage.recorder.close()
        actions = stage.actions()
    assert [(a["type"], a["url"]) for a in actions[1:]] == [
        ("pageLoad", "about:blank"),
        ("click", "about:blank"),
        ("click", "about:blank"),
    ]
    assert actions[1]["title"] == "Filled"
    assert actions[1]["frame"] == actions[2]["frame"]
