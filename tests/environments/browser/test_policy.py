"""What the relay lets an agent do, decided without a browser."""

from __future__ import annotations

from typing import Any

import pytest

from clawbench.environments.browser.relay.policy import (
    RefusalError,
    RelayRules,
    Seat,
    for_log,
    is_visible,
    judge,
    may_open,
)

RULES = RelayRules(
    world="recorder-world",
    binding="recorderReport",
    uploads={"/my-info/cv.pdf": "/inside/cv.pdf"},
    downloads="/inside/downloads",
)
PAGE = Seat(
    kind="page",
    contexts=frozenset((3, "u3")),
    sessions=frozenset(("S1",)),
    pages=frozenset(("P1", "P2")),
    targets=frozenset(("P1", "P2", "W1")),
    target="P1",
    contexts_of_browser=frozenset(("C1",)),
)
BROWSER = Seat(kind="browser", pages=PAGE.pages, targets=PAGE.targets)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Accessibility.getFullAXTree", {}),
        ("Browser.getVersion", {}),
        ("DOM.getDocument", {}),
        ("DOMDebugger.getEventListeners", {"objectId": "1", "depth": -1}),
        ("Emulation.setScriptExecutionDisabled", {"value": False}),
        ("Fetch.continueRequest", {"requestId": "1", "url": "https://a.example/", "method": "PUT"}),
        ("Input.dispatchDragEvent", {"type": "drop", "data": {"items": []}}),
        ("Network.setBlockedURLs", {"urls": []}),
        ("Page.captureScreenshot", {}),
        ("Page.close", {}),
        ("Page.navigate", {"url": "https://a.example/"}),
        ("Runtime.addBinding", {"name": "mine"}),
        ("Runtime.evaluate", {"expression": "1"}),
        ("Runtime.evaluate", {"expression": "1", "contextId": 3}),
        ("Runtime.evaluate", {"expression": "1", "uniqueContextId": "u3"}),
        ("Storage.getCookies", {}),
        ("Target.attachToTarget", {"targetId": "P2", "flatten": True}),
        ("Target.closeTarget", {"targetId": "P2"}),
        ("Target.createTarget", {"url": "https://a.example/", "browserContextId": "C1"}),
        ("Target.detachFromTarget", {"sessionId": "S1"}),
    ],
)
def test_browsing_is_allowed_unchanged(method: str, params: dict[str, Any]) -> None:
    assert judge(RULES, PAGE, method, params) == params


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Browser.close", {}),
        ("Browser.crash", {}),
        ("Browser.executeBrowserCommand", {"commandId": "openTabSearch"}),
        ("Browser.setWindowBounds", {"windowId": 1, "bounds": {"windowState": "minimized"}}),
        ("DOM.resolveNode", {"nodeId": 1, "executionContextId": 4}),
        ("DOM.setFileInputFiles", {"files": ["/etc/passwd"], "nodeId": 1}),
        ("DOM.setFileInputFiles", {"files": ["/my-info/cv.pdf", "/my-info/../etc/passwd"], "nodeId": 1}),
        ("DOMDebugger.getEventListeners", {"objectId": "1", "pierce": True}),
        ("Debugger.enable", {}),
        ("DeviceAccess.enable", {}),
        ("Emulation.setScriptExecutionDisabled", {"value": True}),
        ("Extensions.loadUnpacked", {"path": "/tmp/x"}),
        ("Fetch.continueRequest", {"requestId": "1", "url": "file:///etc/passwd"}),
        ("Fetch.continueRequest", {"requestId": "1", "method": "POST /order HTTP/1.1\r\n\r\nGET"}),
        ("FileSystem.getDirectory", {}),
        ("HeapProfiler.getObjectByHeapObjectId", {"objectId": "1"}),
        ("Input.dispatchDragEvent", {"type": "drop", "data": {"files": ["/etc/passwd"]}}),
        ("LayerTree.loadSnapshot", {"tiles": []}),
        ("Network.commandOfTheFuture", {}),
        ("Network.loadNetworkResource", {"url": "https://a.example/"}),
        ("Network.setRequestInterception", {"patterns": []}),
        ("NoSuchDomain.doIt", {}),
        ("Page.addScriptToEvaluateOnNewDocument", {"source": "", "worldName": "recorder-world"}),
        ("Page.createIsolatedWorld", {"frameId": "F", "worldName": "recorder-world"}),
        ("Page.addCompilationCache", {"url": "https://a.example/a.js", "data": ""}),
        ("Page.commandOfTheFuture", {}),
        ("Page.crash", {}),
        ("Page.waitForDebugger", {}),
        ("Page.navigate", {"url": "file:///etc/passwd"}),
        ("Page.navigate", {}),
        ("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": "/"}),
        ("Runtime.addBinding", {"name": "mine", "executionContextName": "recorder-world"}),
        ("Runtime.addBinding", {"name": "recorderReport"}),
        ("Runtime.callFunctionOn", {"functionDeclaration": "", "executionContextId": 4}),
        ("Runtime.evaluate", {"expression": "1", "contextId": 4}),
        ("Runtime.evaluate", {"expression": "1", "uniqueContextId": "u4"}),
        ("Runtime.removeBinding", {"name": "recorderReport"}),
        ("Security.setIgnoreCertificateErrors", {"ignore": True}),
        ("SystemInfo.getInfo", {}),
        ("Runtime.evaluate", {"expression": "1", "contextId": []}),
        ("Target.attachToTarget", {"targetId": "P2"}),
        ("Target.closeTarget", {"targetId": {}}),
        ("Target.closeTarget", {}),
        ("Target.createTarget", {"url": 5}),
        ("Target.attachToTarget", {"targetId": "hidden", "flatten": True}),
        ("Target.closeTarget", {"targetId": "hidden"}),
        ("Target.createBrowserContext", {"proxyServer": "direct://"}),
        ("Target.createTarget", {"url": "chrome://settings"}),
        ("Target.createTarget", {"url": "https://a.example/", "browserContextId": "C2"}),
        ("Target.createTarget", {"url": "https://a.example/", "hidden": True}),
        ("Target.detachFromTarget", {"sessionId": "S2"}),
        ("Target.exposeDevToolsProtocol", {"targetId": "P1"}),
        ("Target.sendMessageToTarget", {"message": "{}", "sessionId": "S1"}),
        ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False}),
        ("Tethering.bind", {"port": 8000}),
        ("Tracing.start", {}),
    ],
)
def test_what_a_user_could_not_do_is_refused(method: str, params: dict[str, Any]) -> None:
    with pytest.raises(RefusalError) as caught:
        judge(RULES, PAGE, method, params)
    assert str(caught.value)


def test_fetch_is_offered_on_pages_only() -> None:
    assert judge(RULES, PAGE, "Fetch.enable", {}) == {}
    for kind in ("browser", "tab", "service_worker", "worker"):
        with pytest.raises(RefusalError, match="pages only"):
            judge(RULES, Seat(kind=kind), "Fetch.enable", {})


def test_the_last_page_stays_open() -> None:
    lonely = Seat(kind="page", pages=frozenset(("P1",)), targets=frozenset(("P1", "W1")), target="P1")
    for method, params in (
        ("Page.close", {}),
        ("Page.close", {"targetId": "W1"}),
        ("Target.closeTarget", {"targetId": "P1"}),
    ):
        with pytest.raises(RefusalError, match="last page"):
            judge(RULES, lonely, method, params)


def test_paths_and_filters_are_rewritten() -> None:
    files = judge(RULES, PAGE, "DOM.setFileInputFiles", {"files": ["/my-info/cv.pdf"], "nodeId": 1})
    assert files == {"files": ["/inside/cv.pdf"], "nodeId": 1}
    drag = judge(RULES, PAGE, "Input.dispatchDragEvent", {"data": {"files": ["/my-info/cv.pdf"]}})
    assert drag == {"data": {"files": ["/inside/cv.pdf"]}}
    kept = judge(RULES, BROWSER, "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": "/etc"})
    assert kept["downloadPath"] == "/inside/downloads"
    assert judge(RULES, BROWSER, "Target.createTarget", {"url": "chrome://newtab/"}) == {"url": "about:blank"}
    away = {
        "url": "https://a.example/",
        "newWindow": True,
        "left": 9000,
        "top": 0,
        "windowState": "minimized",
    }
    assert judge(RULES, BROWSER, "Target.createTarget", away) == {
        "url": "https://a.example/",
        "newWindow": True,
    }
    attach = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
    asked = judge(RULES, BROWSER, "Target.setAutoAttach", attach)["filter"]
    assert {"type": "browser_ui", "exclude": True} in asked
    assert asked[-1] == {}


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example",
        "HTTPS://a.example",
        "about:blank",
        "about:blank#x",
        "data:text/html,x",
        "blob:https://a.example/1",
        "javascript:1",
        "view-source:https://a.example/",
    ],
)
def test_urls_a_page_may_lead_to(url: str) -> None:
    assert may_open(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/etc/passwd",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " \x00file:///etc/passwd",
        "fi\nle:///etc/passwd",
        "chrome://settings",
        "about:version",
        "devtools://devtools/bundled/inspector.html",
        "view-source:file:///etc/passwd",
        "view-source:chrome://version",
        "chrome-extension://abc/x.html",
        "filesystem:https://a.example/temporary/x",
        "ftp://a.example",
    ],
)
def test_urls_it_may_not(url: str) -> None:
    assert not may_open(url)


def test_targets_of_the_browser_itself_are_hidden() -> None:
    assert is_visible({"type": "page", "url": "https://a.example"})
    assert is_visible({"type": "page", "url": "chrome-error://chromewebdata/"})
    assert not is_visible({"type": "browser_ui", "url": "chrome://omnibox-popup.top-chrome/"})
    assert not is_visible({"type": "page", "url": "devtools://devtools/x"})


def test_the_log_cuts_values_and_keeps_no_typing() -> None:
    logged = for_log({"expression": "x" * 500, "list": list(range(50))})
    assert logged["expression"].startswith("x" * 200)
    assert "(500 characters)" in logged["expression"]
    assert len(logged["list"]) == 20
    typed = for_log({"type": "char", "text": "hunter2", "windowsVirtualKeyCode": 72}, typed=True)
    assert typed == {"type": "char", "text": "(7 characters)", "windowsVirtualKeyCode": "(2 characters)"}
    filled = for_log({"functionDeclaration": "f", "arguments": [{"value": "hunter2"}]}, typed=True)
    assert "hunter2" not in str(filled)
