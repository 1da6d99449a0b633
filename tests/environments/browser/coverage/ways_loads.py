"""Loads of every kind, with parameters that match."""

from __future__ import annotations

from tests.environments.browser.conftest import AgentClient, Opened
from tests.environments.browser.coverage.way import LOCAL, SHOP, get

URL = "/order?kind=final"


def element(tag: str, **attributes: str) -> str:
    return f"document.body.append(Object.assign(document.createElement('{tag}'), {attributes}))"


async def ask_for_manifest(_opened: Opened, agent: AgentClient) -> None:
    await agent.go(f"{SHOP}/manifest")
    await agent("Page.getAppManifest")


WAYS = [
    get("get-fetch", f"await fetch('{URL}')"),
    get("get-location", f"location = '{URL}'"),
    get("get-open", f"open('{URL}', '_self')"),
    get("get-form", "form('<input name=kind value=final>', {method: 'GET'}).submit()"),
    get("get-meta-refresh", "location = '/refresh'"),
    get("get-refresh-header", "location = '/refresh-header'"),
    get("get-link-header", "location = '/link-header'"),
    get("get-image", f"new Image().src = '{URL}'"),
    get("get-script", element("script", src=URL)),
    get("get-stylesheet", element("link", rel="stylesheet", href=URL)),
    get("get-style-image", "location = '/style'"),
    get("get-frame", element("iframe", src=URL)),
    get("get-video", element("video", src=URL)),
    get("get-prefetch", element("link", rel="prefetch", href=URL)),
    get("get-preload", element("link", rel="preload", href=URL).replace("}", ", as: 'fetch'}")),
    get("get-module", f"await import('{URL}')"),
    get("get-event-source", f"new EventSource('{URL}')"),
    get("get-worker-script", f"new Worker('{URL}')"),
    get("get-import-scripts", "new Worker('/import.js')"),
    get("get-service-worker-script", f"await navigator.serviceWorker.register('{URL}')", origin=LOCAL),
    get("get-worklet", f"await CSS.paintWorklet.addModule('{URL}')", origin=LOCAL),
    get("get-cache-add", f"await (await caches.open('x')).add('{URL}')", origin=LOCAL, rare=True),
    get("get-font", f"await new FontFace('x', 'url({URL})').load()", rare=True),
    get("get-json-module", f"await import('{URL}', {{with: {{type: 'json'}}}})", rare=True),
    get(
        "get-audio-worklet",
        f"await new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule('{URL}')",
        origin=LOCAL,
        rare=True,
    ),
    get("get-shared-worker-script", f"new SharedWorker('{URL}')", rare=True),
    get("get-svg-use", f"document.body.innerHTML = `<svg><use href='{URL}#x'/></svg>`", rare=True),
    get("get-compression-dictionary", "location = '/dictionary-header'", rare=True),
    get("get-speculation-rules", "location = '/rules-header'", rare=True),
    get("get-navigation-api", f"navigation.navigate('{URL}')", rare=True),
    get("get-escaped", "await fetch('/order?%6Bind=fin%61l')", url=f"{SHOP}/order?%6Bind=fin%61l", rare=True),
    get("get-icon", "location = '/icon'"),
    get("get-manifest", ask_for_manifest, asked_again=True),
    get(
        "get-download",
        f"Object.assign(document.createElement('a'), {{href: '{URL}', download: 'x'}}).click()",
    ),
]
