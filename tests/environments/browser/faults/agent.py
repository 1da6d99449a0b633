"""Runs inside the sandbox: opens the page and keeps clicking, typing and reading until it is ended.

Uses the websockets package that is mounted beside it. With FAULTS_AGENT=leaves it ends as soon as its
connection breaks, as most harnesses do; otherwise it stays.
"""

import itertools
import json
import os
import sys
import time
import urllib.request

sys.path.insert(0, os.environ["FAULTS_SITE_PACKAGES"])
from websockets.sync.client import connect

BASE = os.environ["CDP_URL"]
PAGE = "http://shop.example/"
PATIENCE_S = 1.5


class Page:
    def __init__(self):
        listed = json.load(urllib.request.urlopen(f"{BASE}/json/list", timeout=10))
        url = next(page["webSocketDebuggerUrl"] for page in listed if page["type"] == "page")
        self.socket = connect(url, max_size=None, open_timeout=10)
        self.numbers = itertools.count(1)

    def send(self, method, **params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = json.loads(self.socket.recv(timeout=max(0.01, deadline - time.monotonic())))
            if answer.get("id") == number:
                return answer

    def mouse(self, kind, x, y):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def look(self):
        answer = self.send("Runtime.evaluate", expression="document.title")
        return answer.get("result", {}).get("result", {}).get("value")


def work(page):
    for turn in itertools.count():
        if page.look() != "Shop":
            page.send("Page.navigate", url=PAGE)
            time.sleep(0.1)
            continue
        page.mouse("mousePressed", 60, 110)
        page.mouse("mouseReleased", 60, 110)
        page.send("Input.insertText", text=chr(97 + turn % 26))
        time.sleep(0.02)


def main():
    page = Page()
    while True:
        try:
            work(page)
        except TimeoutError:  # a page that crashed answers no more until it is loaded again
            page.socket.send(json.dumps({"id": 0, "method": "Page.navigate", "params": {"url": PAGE}}))


try:
    main()
except Exception:
    if os.environ["FAULTS_AGENT"] == "leaves":
        raise
    time.sleep(3600)
