from __future__ import annotations

from typing import Any

from clawbench.environments.browser.vnc.windows import Arrangement, Window


def event(name: str, target: str, **info: Any) -> dict[str, Any]:
    if name == "Destroyed":
        return {"method": "Target.targetDestroyed", "params": {"targetId": target}}
    shown = {"targetId": target, "type": "page", "title": "", "url": "http://shop.example/", **info}
    return {"method": f"Target.target{name}", "params": {"targetInfo": shown}}


def test_a_window_is_known_by_the_page_that_changed_last() -> None:
    pages = Arrangement()
    assert pages.note(event("Created", "a", title="First")) == "a"
    assert pages.note(event("Created", "b", title="Second")) == "b"
    assert pages.note(event("Created", "c", title="Popup")) == "c"
    pages.windows = {"a": 1, "b": 1, "c": 2}
    assert pages.listed() == [Window("b", "Second"), Window("c", "Popup")]
    pages.note(event("InfoChanged", "a", title="Changed"))
    assert pages.listed() == [Window("a", "Changed"), Window("c", "Popup")]
    pages.note(event("Destroyed", "c"))
    assert pages.listed() == [Window("a", "Changed")]


def test_frames_workers_and_pages_without_a_window_are_not_offered() -> None:
    pages = Arrangement()
    assert pages.note(event("Created", "w", type="service_worker")) is None
    assert pages.note({"method": "Target.attachedToTarget", "params": {}}) is None
    pages.note(event("Created", "a"))
    assert pages.listed() == []
    pages.windows["a"] = 1
    assert pages.listed() == [Window("a", "http://shop.example/")]
