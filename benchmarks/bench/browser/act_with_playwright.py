"""`act_with_playwright.py ENDPOINT URL COUNT`: act in the first page of a browser, print how long it took."""

from __future__ import annotations

import json
import sys
import time

from playwright.sync_api import sync_playwright


def act(endpoint: str, url: str, count: int) -> float:
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(endpoint)
        page = browser.contexts[0].pages[0]
        page.goto(url)
        began = time.perf_counter()
        for number in range(count):
            if number % 3 == 0:
                page.click("#count")
            elif number % 3 == 1:
                page.click("#text")
            else:
                page.keyboard.press("a")
        return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps({"seconds": act(sys.argv[1], sys.argv[2], int(sys.argv[3]))}))
