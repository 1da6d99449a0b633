"""Events that do not leave their shadow root are recorded also where nobody has touched the root before."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio

NESTED = """<x-outer></x-outer><script>
customElements.define('x-outer', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = '<x-inner></x-inner>'; } });
customElements.define('x-inner', class extends HTMLElement { connectedCallback() {
  window.root = this.attachShadow({mode: 'MODE'});
  root.innerHTML = '<form id=f onsubmit="event.preventDefault()"></form>'
    + '<div id=box style="height: 90px; overflow: auto"><div style="height: 900px">x'; } });
</script>"""


@pytest.mark.parametrize(("mode", "submitted"), [("open", "f"), ("closed", "")])
async def test_roots_in_roots_are_known_once_the_page_has_loaded(
    stage_at: Any, mode: str, submitted: str
) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = NESTED.replace("MODE", mode)
        for round in (1, 2):
            await stage.open("/")
            await stage.shown()
            await stage.evaluate("root.querySelector('#f').requestSubmit()")
            await stage.evaluate("root.querySelector('#box').scrollTop = 50")
            await stage.until(lambda round=round: len(stage.actions("submit", "scroll")) == 2 * round)
        recorded = [(a["type"], a["target"]["id"]) for a in stage.actions("submit", "scroll")]
    assert recorded == [("submit", submitted), ("scroll", "box")] * 2


PANE = "<div id=box style='height: 200px; overflow: auto'><div style='height: 900px'>x</div></div>"
SCROLLED = {
    "closed": f"<section><template shadowrootmode=closed>{PANE}</template>light</section>",
    "open, made later": (
        "<section id=host>light</section><script>onload = () => setTimeout(() => {"
        f" host.attachShadow({{mode: 'open'}}).innerHTML = `{PANE}` }}, 100)</script>"
    ),
}


@pytest.mark.parametrize("page", SCROLLED.values(), ids=SCROLLED)
async def test_the_wheel_opens_the_root_that_it_scrolls(stage_at: Any, page: str) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = page
        await stage.open("/")
        await stage.shown()
        wheel = {"type": "mouseWheel", "x": 60, "y": 60, "deltaX": 0, "deltaY": 100}
        await stage.send("Input.dispatchMouseEvent", wheel)
        await stage.shown()
        await stage.send("Input.dispatchMouseEvent", wheel)
        await stage.until(lambda: stage.actions()[-1]["scrollY"] == 200)
        assert {scroll["target"]["id"] for scroll in stage.actions("scroll")} == {"box"}
