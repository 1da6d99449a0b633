"""Frames and workers."""

from __future__ import annotations

from tests.environments.browser.conftest import AgentClient, Opened, until
from tests.environments.browser.coverage.way import BODY, LOCAL, SHOP, Way, local, send

POST = f"fetch('{SHOP}/order', {{method: 'POST', body: 'BODY_', mode: 'no-cors'}})"
LOCAL_POST = POST.replace(SHOP, LOCAL)
REGISTERED = "ServiceWorker.workerRegistrationUpdated"
ELSEWHERE = "await frame('http://other.example/frame')"
SUBMIT = (
    f"document.body.innerHTML = '<form method=post action={SHOP}/order><input name=kind value=final>';"
    "document.forms[0].submit()"
)
OBEYING = "<script>parent.postMessage({ready: true}, '*'); onmessage = e => eval(e.data)<\\/script>"


async def push_message(opened: Opened, agent: AgentClient) -> None:
    """As a push service would."""
    await send(opened, agent, "await controlled()")
    await agent("ServiceWorker.enable")

    def registered() -> list[str]:
        events = (one["params"] for one in agent.events if one["method"] == REGISTERED)
        return [one["registrationId"] for event in events for one in event["registrations"]]

    registration = (await until(registered))[-1]
    await agent("ServiceWorker.deliverPushMessage", origin=LOCAL, registrationId=registration, data=BODY)


FRAMES = [
    Way("frame-fetch", f"(await frame('/frame')).postMessage(`{POST}`)"),
    Way("frame-of-another-site-fetch", f"({ELSEWHERE}).postMessage(`{POST}`, '*')"),
    Way("frame-of-another-site-form", f"({ELSEWHERE}).postMessage(`{SUBMIT}`, '*')"),
    Way(
        "frame-in-frame",
        f"const inner = `const f = document.createElement('iframe'); f.src = '{SHOP}/frame';"
        f"f.onload = () => f.contentWindow.postMessage(\\`{POST}\\`, '*'); document.body.append(f)`;"
        f"({ELSEWHERE}).postMessage(inner, '*')",
    ),
    Way("frame-srcdoc", f"(await frame('', {{srcdoc: `{OBEYING}`}})).postMessage(`{POST}`, '*')"),
    Way(
        "frame-about-blank",
        f"const f = document.createElement('iframe'); document.body.append(f);f.contentWindow.eval(`{POST}`)",
    ),
    Way(
        "frame-blob",
        f"const page = URL.createObjectURL(new Blob([`{OBEYING}`], {{type: 'text/html'}}));"
        f"(await frame(page)).postMessage(`{POST}`, '*')",
    ),
    Way("frame-data", f"(await frame(`data:text/html,{OBEYING}`)).postMessage(`{POST}`, '*')"),
    Way(
        "frame-sandboxed", f"(await frame('/frame', {{sandbox: 'allow-scripts'}})).postMessage(`{POST}`, '*')"
    ),
    Way(
        "object-element",
        "const o = document.createElement('object'); o.type = 'text/html'; o.data = '/frame';"
        f"o.onload = () => o.contentWindow.postMessage(`{POST}`, '*'); document.body.append(o)",
    ),
]

WORKER = "new Worker('/worker.js')"

WORKERS = [
    Way("worker", f"{WORKER}.postMessage(`{POST}`)"),
    Way("worker-module", f"new Worker('/worker.js', {{type: 'module'}}).postMessage(`{POST}`)"),
    Way("worker-blob", f"new Worker(URL.createObjectURL(new Blob([`{POST}`])))"),
    Way(
        "worker-xhr",
        f"{WORKER}.postMessage(`const x = new XMLHttpRequest();"
        "x.open('POST', '/order', false); x.send('BODY_')`)",
    ),
    Way("worker-in-worker", f"{WORKER}.postMessage(`{WORKER}.postMessage(\\`{POST}\\`)`)"),
    Way(
        "worker-in-frame-of-another-site",
        f"({ELSEWHERE}).postMessage(`{WORKER}.postMessage(\\`{POST}\\`)`, '*')",
    ),
    Way("shared-worker", f"new SharedWorker('/shared.js').port.postMessage(`{POST}`)"),
    Way(
        "shared-worker-that-outlives-its-tab",
        "const job = `e.ports[0].postMessage('running'); setTimeout(() => fetch('/order', {method: 'POST',"
        " body: JSON.stringify({kind: 'final'})}), 300)`; (await popup('/frame')).eval(`"
        "const worker = new SharedWorker('/shared.js', {extendedLifetime: true});"
        "worker.port.onmessage = () => close(); worker.port.postMessage(${JSON.stringify(job)})`)",
        rare=True,
    ),
    local("service-worker", f"(await controlled()).active.postMessage(`{LOCAL_POST}`)"),
    local(
        "service-worker-forwards-fetch",
        "await controlled(); await fetch('/free?forward=/order', {method: 'POST', body: 'BODY_'})",
    ),
    local(
        "service-worker-passes-on-fetch",
        "await controlled(); await fetch('/order', {method: 'POST', body: 'BODY_'})",
        lines=2,
    ),
    local(
        "service-worker-passes-on-form",
        "await controlled(); form('<input name=kind value=final>').submit()",
        lines=2,
    ),
]

SERVICE_WORKERS = [
    local(
        "service-worker-answers-with-a-redirect",
        "await controlled(); await fetch('/moved', {method: 'POST', body: 'BODY_'})",
        lines=2,
    ),
    local(
        "service-worker-answers-a-form-with-a-redirect",
        "await controlled(); form('<input name=kind value=final>', {action: '/moved'}).submit()",
        lines=2,
        rare=True,
    ),
    local("service-worker-is-pushed", push_message),
    local(
        "service-worker-as-it-is-installed",
        f"const code = `oninstall = e => e.waitUntil({LOCAL_POST})`;"
        "await navigator.serviceWorker.register('/echo.js?' + encodeURIComponent(code))",
        rare=True,
    ),
]

WAYS = [*FRAMES, *WORKERS, *SERVICE_WORKERS]
