"""A session on a browser that runs elsewhere and that others use as well."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from clawbench.results import RunDirectory, StopReason
from tests.environments.browser.conftest import AgentClient, until
from tests.environments.browser.remote.conftest import RemoteOpener
from tests.environments.browser.remote.elsewhere import (
    CHROME,
    CHROMIUM,
    Elsewhere,
    browser_elsewhere,
    json_lines,
    neighbour,
    quiet,
)
from tests.environments.browser.remote.site import Site

pytestmark = pytest.mark.anyio

BLUE, GREEN, WHITE = (0, 90, 200), (0, 160, 0), (255, 255, 255)


async def click(agent: AgentClient, selector: str) -> None:
    element = f"document.querySelector('{selector}').getBoundingClientRect()"
    box = await agent.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element})")
    for kind in ("mousePressed", "mouseReleased"):
        await agent("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)


def colour(picture: Path, at: tuple[int, int] = (1500, 900)) -> tuple[int, int, int]:
    with Image.open(picture) as image:
        assert image.size == (1920, 1080)
        found = image.convert("RGB").getpixel(at)
    assert isinstance(found, tuple)
    return found[0], found[1], found[2]


def near(found: tuple[int, int, int], wanted: tuple[int, int, int]) -> bool:
    return all(abs(a - b) < 20 for a, b in zip(found, wanted, strict=True))


def probe(video: Path) -> dict[str, Any]:
    asked = ["-show_entries", "stream=codec_name,width,height:packet=pts_time", "-of", "json", str(video)]
    shown = subprocess.run(["ffprobe", "-v", "error", *asked], capture_output=True, check=True).stdout
    found: dict[str, Any] = json.loads(shown)
    return found


def last_frame(run: RunDirectory, tmp_path: Path) -> Path:
    frame = tmp_path / "last.png"
    command = ["ffmpeg", "-v", "error", "-y", "-sseof", "-0.2", "-i", str(run.recording), "-update", "1"]
    subprocess.run([*command, str(frame)], check=True)
    return frame


@pytest.mark.parametrize("window", [False, True], ids=["headless", "window"])
@pytest.mark.parametrize("name", ["Chromium", "Google Chrome"])
async def test_a_match_is_blocked_and_everything_before_it_is_recorded(
    name: str, window: bool, site: Site, open_remote: RemoteOpener, tmp_path: Path
) -> None:
    program = {"Chromium": CHROMIUM, "Google Chrome": CHROME}[name]
    if program is None:
        pytest.skip(f"not installed: {name}")
    if window and shutil.which("Xvfb") is None:
        pytest.skip("not installed: Xvfb")
    async with browser_elsewhere(program, tmp_path / "elsewhere", window=window) as browser:
        other = await neighbour(browser)
        await other.go(site.url("/?neighbour"))
        before = {page["targetId"] for page in await browser.pages()}
        async with open_remote(browser.http) as opened:
            agent = await opened.page_client()
            await agent.go(site.url("/?agent"))
            await shows(opened.run, agent, BLUE)
            await click(agent, "#name")
            for letter in "Alex":
                await agent("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
                await agent("Input.dispatchKeyEvent", type="keyUp", key=letter)
            await click(agent, "#buy")
            await other.run("fetch('/order?neighbour', {method: 'POST'}).then(() => 1)")
            await until(opened.run.interception.exists)
            last = await opened.session.stop(StopReason.INTERCEPTED)
        assert last.event == "closed"
        assert {page["targetId"] for page in await browser.pages()} == before, "only the run's pages are gone"
        assert await other.run("document.title") == "Shop"

    assert site.got("/order?neighbour") == 1
    assert site.got("/order") == 1, "the run's own order must not have left"
    assert opened.interception()["request"]["body"] == {"name": "Alex"}
    urls = [line["url"] for line in opened.requests()]
    assert not [url for url in urls if "neighbour" in url]
    assert [url for url in urls if url.endswith("/order")]
    actions = json_lines(opened.run.actions)
    assert {"pageLoad", "click", "keydown", "input", "submit"} <= {action["type"] for action in actions}
    assert not [action for action in actions if "neighbour" in action["url"]]
    shots = {action["type"]: opened.run.screenshots / action["screenshot"] for action in actions}
    assert near(colour(shots["input"]), BLUE)
    last_seen = colour(last_frame(opened.run, tmp_path))
    assert near(last_seen, WHITE) or near(last_seen, BLUE), "that it was blocked, or not yet"
    shown = probe(opened.run.recording)
    (stream,) = shown["streams"]
    assert (stream["codec_name"], stream["width"], stream["height"]) == ("h264", 1920, 1080)
    times = [float(packet["pts_time"]) for packet in shown["packets"]]
    assert len(times) >= 3
    assert all(abs(t * 15 - round(t * 15)) < 1e-4 for t in times)


WAYS = {
    "fetch": "fetch('/order?fetch', {method: 'POST', body: 'x'}).catch(() => 0)",
    "beacon": "navigator.sendBeacon('/order?beacon', 'x')",
    "frame": "frames[0].fetch('/order?frame', {method: 'POST'}).catch(() => 0)",
    "blank frame": """{const f = document.createElement('iframe'); document.body.append(f);
        const x = new f.contentWindow.XMLHttpRequest; x.open('POST', '/order?blank', false);
        try { x.send() } catch {} }""",
    "frame that is gone": """{const f = document.createElement('iframe'); f.src = '/frame?gone';
        document.body.append(f); new Promise(done => f.onload = () => {
        f.contentWindow.fetch('/order?gone', {method: 'POST', keepalive: true}).catch(() => 0);
        f.remove(); done() })}""",
    "other site's frame": """{const f = document.createElement('iframe');
        f.src = `http://localhost:${location.port}/frame?cross`;
        document.body.append(f); new Promise(r => f.onload = r)}""",
    "worker": """new Worker('/worker.js').postMessage("fetch('/order?worker', {method: 'POST'})")""",
    "shared worker": """new SharedWorker('/shared.js').port
        .postMessage("fetch('/order?shared', {method: 'POST'})")""",
    "service worker": """navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready)
        .then(r => r.active.postMessage("fetch('/order?service', {method: 'POST'})"))""",
    "popup": """{const w = window.open('/green?popup'); new Promise(r => w.onload = () =>
        w.fetch('/order?popup', {method: 'POST'}).catch(() => 0).then(r))}""",
    "form in a new tab": """{const f = document.createElement('form'); f.method = 'post';
        f.action = '/order?tab'; f.target = '_blank'; document.body.append(f); f.submit()}""",
}
SENT = {"fetch", "beacon", "frame", "blank", "gone", "worker", "shared", "service", "popup", "tab"}
CROSS = "fetch('/order?cross', {method: 'POST'}).catch(() => 0)"


def orders(urls: list[str]) -> set[str]:
    return {url.partition("/order?")[2] for url in urls if "/order?" in url}


async def test_ways_of_sending_are_kept_apart(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener
) -> None:
    """The same ways from the run's context and from another: those all blocked, these all let through."""
    async with open_remote(elsewhere.http) as opened:
        agent = await opened.page_client()
        await agent.go(site.url("/"))
        for code in WAYS.values():
            await agent.run(code)
        browser = await opened.browser_client()
        targets = (await browser("Target.getTargets"))["targetInfos"]
        (cross,) = [info for info in targets if "frame?cross" in info["url"]]
        inner = (await browser("Target.attachToTarget", targetId=cross["targetId"], flatten=True))[
            "sessionId"
        ]
        await browser.run(CROSS, session=inner)
        await until(lambda: orders([line["url"] for line in opened.requests()]) == SENT | {"cross"})
        await quiet()
        assert site.got("/order") == 0
        logged = len(opened.requests())

        other = await neighbour(elsewhere)
        await other.go(site.url("/"))
        for code in WAYS.values():
            await other.run(code)
        await until(lambda: orders([path for _, path, _ in site.arrived]) == SENT)
        assert len(opened.requests()) == logged, "what others send is not recorded"
        await opened.session.stop(StopReason.INTERCEPTED)


async def test_the_agent_sees_its_own_context_only(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener, refused: type[Exception]
) -> None:
    other = await neighbour(elsewhere)
    await other.go(site.url("/"))
    await other.client("Storage.setCookies", browserContextId=other.context, cookies=[cookie(site, "theirs")])
    await other.client("Storage.setCookies", cookies=[cookie(site, "default")])
    async with open_remote(elsewhere.http) as opened:
        listed = (await opened.http("GET", "/json/list")).json()
        assert len(listed) == 1
        agent = await opened.browser_client()
        await agent("Target.setDiscoverTargets", discover=True)
        await agent("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        targets = (await agent("Target.getTargets"))["targetInfos"]
        assert other.target not in {info["targetId"] for info in targets}
        assert (await agent("Target.getBrowserContexts"))["browserContextIds"] == []
        with pytest.raises(refused, match="no such target"):
            await agent("Target.attachToTarget", targetId=other.target, flatten=True)
        with pytest.raises(refused, match="there is one browser context"):
            await agent("Target.createTarget", url="about:blank", browserContextId=other.context)

        opened_page = (await agent("Target.createTarget", url=site.url("/green")))["targetId"]
        info = (await other.client("Target.getTargetInfo", targetId=opened_page))["targetInfo"]
        assert info["browserContextId"] not in (other.context, None)
        assert (await agent("Storage.getCookies"))["cookies"] == []
        assert (await agent("Storage.getCookies", browserContextId=other.context))["cookies"] == []
        await agent("Storage.setCookies", cookies=[cookie(site, "mine")])
        await agent("Storage.clearCookies")
        for context, name in ((other.context, "theirs"), (None, "default")):
            where = {"browserContextId": context} if context else {}
            (kept,) = (await other.client("Storage.getCookies", **where))["cookies"]
            assert kept["name"] == name

        await other.run("window.open('/green?theirs'); 1")
        await until(lambda: site.got("/green?theirs"))
        assert not [event for event in agent.events if other.context in json.dumps(event)]
        assert other.target not in json.dumps(agent.events)
        await opened.session.stop(StopReason.AGENT_EXITED)


def cookie(site: Site, name: str) -> dict[str, str]:
    return {"name": name, "value": "x", "url": site.url()}


async def test_a_page_cannot_reach_the_debugging_port(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener
) -> None:
    async with open_remote(elsewhere.http) as opened:
        agent = await opened.page_client()
        await agent.go(site.url("/"))
        for url in (f"{elsewhere.http}/json/version", f"http://localhost:{elsewhere.port}/json/list"):
            assert (await agent("Page.navigate", url=url))["errorText"] == "net::ERR_BLOCKED_BY_CLIENT"
        assert [line for line in opened.requests() if "/json/version" in line["url"]], "tried, and logged"
        await opened.session.stop(StopReason.AGENT_EXITED)


async def test_the_picture_follows_the_page_in_front(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener, tmp_path: Path
) -> None:
    async with open_remote(elsewhere.http) as opened:
        agent = await opened.page_client()
        await agent.go(site.url("/"))
        browser = await opened.browser_client()
        tab = (await browser("Target.createTarget", url=site.url("/green")))["targetId"]
        second = await opened.page_client(tab)
        await shows(opened.run, second, GREEN)
        await agent("Page.bringToFront")
        await shows(opened.run, agent, BLUE)
        await browser("Target.activateTarget", targetId=tab)
        await shows(opened.run, second, GREEN)
        await browser("Target.closeTarget", targetId=tab)
        await shows(opened.run, agent, BLUE)
        # A burst of frames of which the browser drops some: the last one must still arrive.
        await agent.run(
            """new Promise(done => { let n = 0; (function next() {
            document.body.style.background = ++n < 40 ? `rgb(${n * 6}, 0, 0)` : 'rgb(0, 160, 0)';
            n < 40 ? requestAnimationFrame(next) : done() })() })"""
        )
        await shows(opened.run, agent, GREEN)
        await opened.session.stop(StopReason.AGENT_EXITED)
    assert near(colour(last_frame(opened.run, tmp_path)), GREEN)


async def shows(run: RunDirectory, agent: AgentClient, wanted: tuple[int, int, int]) -> None:
    """Press a key in the page until the screenshot of that shows the colour."""

    async def pressed() -> bool:
        before = len(json_lines(run.actions))
        await agent("Input.dispatchKeyEvent", type="keyDown", key="Shift")
        await until(lambda: len(json_lines(run.actions)) > before)
        shot = run.screenshots / json_lines(run.actions)[-1]["screenshot"]
        await until(shot.exists)
        return near(colour(shot), wanted)

    for _ in range(40):
        if await pressed():
            return
    raise AssertionError(f"never {wanted}")


async def test_files_are_uploaded_by_their_content(
    elsewhere: Elsewhere, site: Site, open_remote: RemoteOpener, tmp_path: Path, refused: type[Exception]
) -> None:
    content = bytes(range(256)) * 400
    (tmp_path / "résumé.pdf").write_bytes(content)
    uploads = {"/my-info/résumé.pdf": tmp_path / "résumé.pdf"}
    async with open_remote(elsewhere.http, uploads=uploads) as opened:
        agent = await opened.page_client()
        await agent.go(site.url("/"))
        root = (await agent("DOM.getDocument"))["root"]["nodeId"]
        node = (await agent("DOM.querySelector", nodeId=root, selector="#file"))["nodeId"]
        await agent("DOM.setFileInputFiles", nodeId=node, files=["/my-info/résumé.pdf"])
        seen = await agent.run(
            """(async f => [f.name, f.type, f.size, Array.from(new Uint8Array(await f.arrayBuffer())).reduce(
            (a, b) => (a * 31 + b) % 65521)])(document.getElementById('file').files[0])"""
        )
        total = 0
        for byte in content[1:]:
            total = (total * 31 + byte) % 65521
        assert seen == ["résumé.pdf", "application/pdf", len(content), total]
        with pytest.raises(refused, match="not a file you were given"):
            await agent("DOM.setFileInputFiles", nodeId=node, files=["/etc/passwd"])
        heading = (await agent("DOM.querySelector", nodeId=root, selector="h1"))["nodeId"]
        with pytest.raises(refused, match="not a file input"):
            await agent("DOM.setFileInputFiles", nodeId=heading, files=["/my-info/résumé.pdf"])
        dragged = {"items": [], "files": ["/my-info/résumé.pdf"], "dragOperationsMask": 1}
        with pytest.raises(refused, match="cannot be dragged"):
            await agent("Input.dispatchDragEvent", type="drop", x=1, y=1, data=dragged)
        await opened.session.stop(StopReason.AGENT_EXITED)
        sent = [c for c in json_lines(opened.run.relay_log) if c["method"] == "DOM.setFileInputFiles"]
        assert [c["decision"] for c in sent if c["params"]["files"] == list(uploads)] == ["allowed"] * 2
