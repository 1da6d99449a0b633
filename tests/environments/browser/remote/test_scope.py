"""What belongs to one context of a shared browser, and what stays in it."""

from __future__ import annotations

import pytest

from clawbench.environments.browser.remote.scope import belongs, leads_to_debugger, only_ours, within

OURS, THEIRS = {"type": "page", "browserContextId": "A"}, {"type": "page", "browserContextId": "B"}


def test_targets_belong_to_their_context() -> None:
    assert belongs(OURS, "A")
    assert not belongs(THEIRS, "A")
    assert not belongs({"type": "page"}, "A")
    assert belongs({"type": "browser"}, "A")


@pytest.mark.parametrize("method", ["Target.createTarget", "Storage.getCookies", "Browser.grantPermissions"])
def test_commands_for_a_context_always_name_ours(method: str) -> None:
    assert within(method, None, "A") == {"browserContextId": "A"}
    assert within(method, {"x": 1, "browserContextId": "B"}, "A") == {"x": 1, "browserContextId": "A"}
    assert within(method, {"x": 1}, None) == {"x": 1}


def test_other_commands_go_as_they_are() -> None:
    assert within("Page.navigate", {"url": "x"}, "A") == {"url": "x"}
    assert within("Page.enable", None, "A") is None


def test_nothing_is_downloaded_to_a_machine_that_is_not_ours() -> None:
    given = {"behavior": "allow", "downloadPath": "/x", "eventsEnabled": True}
    denied = {"behavior": "deny", "eventsEnabled": True}
    assert within("Browser.setDownloadBehavior", given, None) == denied
    assert within("Browser.setDownloadBehavior", given, "A") == denied | {"browserContextId": "A"}


def test_replies_name_nothing_of_others() -> None:
    assert only_ours("Target.getTargets", {"targetInfos": [OURS, THEIRS]}, "A") == {"targetInfos": [OURS]}
    told = {"browserContextIds": ["A", "B"], "defaultBrowserContextId": "C"}
    assert only_ours("Target.getBrowserContexts", told, "A") == {"browserContextIds": []}
    assert only_ours("Page.enable", {"x": 1}, "A") == {"x": 1}


@pytest.mark.parametrize(
    ("url", "leads"),
    [
        ("http://127.0.0.1:9222/json/version", True),
        ("http://localhost:9222/json", True),
        ("http://a.localhost/json/new?http://x", True),
        ("http://[::1]:9222/json/list", True),
        ("http://10.0.0.7:3000/json/list", True),
        ("http://0.0.0.0:1/devtools/browser/x", True),
        ("http://shop.example/json/list", False),
        ("http://127.0.0.1:8000/jsonapi", False),
        ("http://127.0.0.1:8000/order", False),
        ("http://[/json/", False),
    ],
)
def test_requests_to_a_debugging_port_are_known(url: str, leads: bool) -> None:
    assert leads_to_debugger(url) is leads
