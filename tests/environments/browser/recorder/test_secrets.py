"""What is typed into password fields stays out of actions.jsonl."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from clawbench.environments.browser.recorder import MASK, recorder, shadow

pytestmark = pytest.mark.anyio

PASSWORDS = """<body><form onsubmit="event.preventDefault()">
<input id="plain" type="password"><input id="shown" type="password"><button type="button" id="eye"
onclick="shown.type = 'text'">show</button><input id="new" autocomplete="new-password">
<input id="disc" style="-webkit-text-security: disc"><input id="last" type="password"
onkeydown="document.querySelector('#after').focus()"><input id="after"><div id="host"></div></form><script>
root = host.attachShadow({mode: 'closed'});
root.innerHTML = '<input id=inner type=password>';</script>"""


async def type_secrets(stage: Any) -> None:
    stage.site.pages["/"] = PASSWORDS
    await stage.open("/")
    await stage.click("#eye")
    for field in ("#plain", "#shown", "#new", "#disc"):
        await stage.click(field)
        await stage.type("zqj")
    await stage.click_at(*await stage.centre("root.querySelector('#inner')"))
    await stage.type("zqj")
    await stage.click("#last")
    await stage.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "z", "code": "KeyZ"})
    await stage.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": "z", "code": "KeyZ"})
    await stage.until(lambda: stage.actions("keyup")[-1]["target"]["id"] == "after")


async def test_keys_and_values_of_password_fields_are_masked(stage_at: Any) -> None:
    async with stage_at() as stage:
        await type_secrets(stage)
        typed = stage.actions("keydown", "keyup", "input", "change")
    assert {a["target"]["id"] for a in typed} == {
        "plain",
        "shown",
        "new",
        "disc",
        "inner",
        "host",
        "last",
        "after",
    }
    assert {a.get("key", a.get("value")) for a in typed} == {MASK}
    assert "zqj" not in stage.run.actions.read_text()


async def test_passwords_are_recorded_where_the_task_says_so(stage_at: Any) -> None:
    async with stage_at(record_passwords=True) as stage:
        await type_secrets(stage)
        values = [a["value"] for a in stage.actions("change")]
    assert values.count("zqj") == 5


HIDDEN = """<body><textarea id="area" style="-webkit-text-security: disc"></textarea>
<form id="around" onsubmit="event.preventDefault()"><b>Sign in</b>
<div id="editor" contenteditable style="-webkit-text-security: disc; width: 90px; height: 30px"></div></form>
<input id="swapped" type="password"><button id="eye" onclick="
  const text = document.createElement('input');
  [text.id, text.value] = ['swapped', swapped.value];
  swapped.replaceWith(text)">show</button>"""


async def test_what_the_page_hides_by_style_or_shows_in_another_field_is_masked(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = HIDDEN
        await stage.open("/")
        for field in ("#area", "#editor", "#swapped", "#eye", "#swapped"):
            await stage.click(field)
            await stage.type("zqjx")
        await stage.evaluate("around.requestSubmit()")
        await stage.click("#area")
        await stage.until(lambda: len(stage.actions("change")) == 3)
        typed = [
            a for a in stage.actions("keydown", "keyup", "input", "change") if a["target"]["id"] != "eye"
        ]
    assert {a["target"]["id"] for a in typed} == {"area", "editor", "swapped"}
    assert {a.get("key", a.get("value")) for a in typed} == {MASK}
    (sent,) = stage.actions("submit")
    assert sent["target"]["textContent"] == "Sign in"
    assert "zqj" not in stage.run.actions.read_text()


SHOWN_ELSEWHERE = """<input id=old type=password><button id=eye onclick="
  const text = document.createElement('input');
  [text.id, text.value] = ['shown', old.value];
  old.replaceWith(text)">show</button><input id=new type=password>"""


async def show_elsewhere(stage: Any) -> None:
    await stage.click("#eye")
    await stage.click("#shown")


async def test_a_password_shown_in_another_field_is_masked_after_a_second_one_was_typed(
    stage_at: Any,
) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = SHOWN_ELSEWHERE
        await stage.open("/")
        await stage.click("#old")
        await stage.type("zqjx")
        await stage.click("#new")
        await stage.type("another")
        await show_elsewhere(stage)
        await stage.type("w")
        await stage.until(lambda: "shown" in {a["target"]["id"] for a in stage.actions("keyup")})
        typed = stage.actions("keydown", "keyup", "input", "change")
    assert {a.get("key", a.get("value")) for a in typed} == {MASK}


@pytest.mark.parametrize("prefilled", [False, True], ids=["typed", "prefilled"])
async def test_a_password_shown_in_another_field_is_masked_however_that_is_filled(
    stage_at: Any, prefilled: bool
) -> None:
    async with stage_at() as stage:
        value = "value=zqjx " if prefilled else ""
        stage.site.pages["/"] = SHOWN_ELSEWHERE.replace("id=old ", f"id=old {value}")
        await stage.open("/")
        if not prefilled:
            await stage.click("#old")
            await stage.send("Input.insertText", {"text": "zqjx"})
        await show_elsewhere(stage)
        await stage.send("Input.insertText", {"text": "7"})
        await stage.click("#new")
        await stage.until(lambda: "shown" in {a["target"]["id"] for a in stage.actions("change")})
        values = [a["value"] for a in stage.actions("input", "change")]
    assert set(values) == {MASK}


async def test_what_a_password_begins_with_is_no_secret_elsewhere(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = "<input id=password type=password><input id=name>"
        await stage.open("/")
        await stage.click("#password")
        await stage.type("alexgreen")
        await stage.click("#name")
        await stage.type("alexg")
        await stage.until(lambda: len(stage.actions("keyup")) == 14)
        names = [a["value"] for a in stage.actions("input") if a["target"]["id"] == "name"]
    assert names == ["a", "al", "ale", "alex", "alexg"]


NESTED = """<div id=outer><template shadowrootmode=open><div id=inner><template shadowrootmode=open>
<input id=secret type=password value=zqjx></template></div></template></div>
<button id=eye onclick="field.type = 'text'">show</button>
<script>field = outer.shadowRoot.querySelector('#inner').shadowRoot.querySelector('#secret')</script>"""


async def test_a_prefilled_password_that_is_shown_in_roots_in_roots_is_masked(stage_at: Any) -> None:
    async with stage_at() as stage:
        stage.site.pages["/"] = NESTED
        await stage.open("/")
        await stage.shown()
        await stage.click("#eye")
        await stage.click_at(*await stage.centre("field"))
        await stage.type("w")
        await stage.until(lambda: stage.actions("keyup"))
        typed = stage.actions("keydown", "keyup", "input")
    assert {a.get("key", a.get("value")) for a in typed} == {MASK}


FIELDS = "<input type=password id=secret><input type=checkbox id=box>"
BY_KEYBOARD = {
    "hosts with children": f"<section><template shadowrootmode=closed>{FIELDS}</template>light</section>",
    "a root in a root": (
        "<section><template shadowrootmode=closed><div><template shadowrootmode=closed>"
        f"{FIELDS}</template>light</div></template>light</section>"
    ),
    "the body": (
        f"<body>light<script>document.body.attachShadow({{mode: 'closed'}}).innerHTML = '{FIELDS}'</script>"
    ),
    "a root that a click makes": (
        "<div id=d style='height:50px' onclick=\"const root = this.attachShadow({mode: 'closed'});"
        f"root.innerHTML = '{FIELDS}'; root.firstChild.focus()\">Sign in</div>"
    ),
}


@pytest.mark.parametrize("page", BY_KEYBOARD.values(), ids=BY_KEYBOARD)
async def test_keys_typed_before_a_closed_root_is_known_are_no_secret_told(stage_at: Any, page: str) -> None:
    """The focus has moved on by the time the debugger hands the root out."""
    async with stage_at() as stage:
        stage.site.pages["/"] = page
        await stage.open("/")
        tab = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        if "onclick" in page:
            await stage.click("#d")
        else:
            await stage.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **tab})
        await stage.type("zqj")
        await stage.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **tab})
        await stage.until(lambda: len(stage.actions("keydown")) == 4 + ("onclick" not in page))
        keys = [a["key"] for a in stage.actions("keydown")][-4:-1]
        wrongly_named = [a for a in stage.actions("keydown", "input") if a["target"]["id"] == "box"]
    assert keys == [MASK] * 3
    assert wrongly_named == []


async def test_a_key_is_no_secret_told_where_another_key_opened_the_roots(
    stage_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The roots are known by the time it is asked whom the second key met, and the focus has moved on."""
    early, late = asyncio.Event(), asyncio.Event()
    gates = [early]

    async def in_turn(*asked: Any) -> Any:
        await gates[-1].wait()
        return await shadow.look_inside(*asked)

    monkeypatch.setattr(recorder, "look_inside", in_turn)
    monkeypatch.setattr(recorder, "HOLD_AT_MOST_S", 20.0)
    tab = {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
    async with stage_at() as stage:
        stage.site.pages["/"] = BY_KEYBOARD["a root in a root"]
        await stage.open("/")
        await stage.send("Input.dispatchKeyEvent", tab)
        await stage.type("z")
        await stage.evaluate("0")
        gates.append(late)
        await stage.type("q")
        await stage.evaluate("0")
        early.set()
        await stage.until(lambda: len(stage.actions("keydown")) == 2)
        await stage.send("Input.dispatchKeyEvent", tab)
        await stage.evaluate("0")
        late.set()
        await stage.until(lambda: len(stage.actions("keydown")) == 4)
        keys = [action["key"] for action in stage.actions("keydown")]
    assert keys == ["Tab", MASK, MASK, MASK]
