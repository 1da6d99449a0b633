"""What a page feels: loading, fetching and posting, timed by the page itself."""

from __future__ import annotations

from statistics import median

from bench.browser.driver import Page
from bench.browser.subjects import HOST

FETCHES = 60
POST_SIZE = 5_000_000
SETTLING_MS = 500
ELSEWHERE = "data:text/html,<title>Elsewhere</title>"

LOADED_IN = "performance.getEntriesByType('navigation')[0].duration"
FETCH = """(async () => { const took = [];
for (let n = 0; n < COUNT; n++) { const from = performance.now();
await (await fetch('/free?' + n)).text(); took.push(performance.now() - from) } return took })()"""
POST = """(async () => { const body = 'x'.repeat(SIZE), from = performance.now();
const posted = fetch('/sink', {method: 'POST', body}).then(answer => answer.text())
  .then(() => performance.now() - from);
const beside = performance.now();
await (await fetch('/free?beside')).text(); const took = performance.now() - beside;
return [await posted, took] })()"""


async def many_resources(page: Page) -> float:
    """Milliseconds to load the page with many parts, as on a first visit: in a renderer of its own.

    In one that has loaded it before, pictures that are not yet forgotten make each load slower than the last.
    """
    await settled(page, ELSEWHERE)
    await page.open(f"http://{HOST}/many")
    return float(await page.evaluate(LOADED_IN))


async def settled(page: Page, url: str = f"http://{HOST}/still") -> None:
    """A page that was loaded a moment ago, as one is that fetches or posts by itself or for an agent."""
    await page.open(url)
    await page.evaluate(f"new Promise(done => setTimeout(done, {SETTLING_MS}))")


async def sequential_fetches(page: Page) -> float:
    """Milliseconds of the middle one of many fetches, one after the other."""
    await settled(page)
    return float(median(await page.evaluate(FETCH.replace("COUNT", str(FETCHES)))))


async def large_post(page: Page) -> tuple[float, float]:
    """Milliseconds of a large POST, and of an unrelated request sent right behind it."""
    await settled(page)
    posted, beside = await page.evaluate(POST.replace("SIZE", str(POST_SIZE)))
    return posted, beside
