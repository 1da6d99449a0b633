"""What recording and intercepting a browser costs: `./run.sh bench browser [--rounds N] [--only PART…]`.

Two browsers run side by side, one as a run has it and one with everything off, and are measured in turns. A
table is printed, and last a line of JSON with every bar.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.bars import Bar, report
from bench.browser import cpu, runs
from bench.browser.actions import ACTIONS, act, playwright_python
from bench.browser.driver import Page, first_page
from bench.browser.page_loads import large_post, many_resources, sequential_fetches
from bench.browser.subjects import HOST, Subject, plain, recorded, running_site

PARTS = ("pages", "screens", "actions", "runs")
ROUNDS = 7
COSTLY_ROUNDS = 3


@dataclass
class Measured:
    """The figures of both sides, round by round."""

    on: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)

    @property
    def medians(self) -> tuple[float, float]:
        return median(self.on), median(self.off)

    def times(self, name: str, limit: float, unit: str = "ms") -> Bar:
        on, off = self.medians
        return Bar(name, on / off, limit, "times", f"{off:.1f} → {on:.1f} {unit}")

    def more(self, name: str, limit: float, unit: str = "ms") -> Bar:
        on, off = self.medians
        return Bar(name, on - off, limit, f"{unit} more", f"{off:.1f} → {on:.1f} {unit}")


async def in_turns(
    sides: dict[str, Subject], rounds: int, measure: Callable[[Subject], Awaitable[tuple[float, ...]]]
) -> list[Measured]:
    """Both sides in each round, the other one first in every second round."""
    found: list[Measured] = []
    for number in range(rounds):
        for name in ("on", "off") if number % 2 else ("off", "on"):
            values = await measure(sides[name])
            found = found or [Measured() for _ in values]
            for value, measured in zip(values, found, strict=True):
                getattr(measured, name).append(value)
    return found


async def page_bars(sides: dict[str, Subject], pages: dict[str, Page], rounds: int) -> list[Bar]:
    async def measure(subject: Subject) -> tuple[float, ...]:
        page = pages[subject.name]
        return (await many_resources(page), await sequential_fetches(page), *await large_post(page))

    many, fetch, post, beside = await in_turns(sides, rounds, measure)
    return [
        many.times("page_with_200_resources", 1.15),
        fetch.more("sequential_fetch_p50", 2.0),
        post.times("post_of_5_mb", 2.0),
        beside.times("request_beside_the_post", 1.5),
    ]


async def action_bars(sides: dict[str, Subject], rounds: int) -> tuple[list[Bar], str]:
    python = await playwright_python()

    async def measure(subject: Subject) -> tuple[float]:
        return (await act(subject, python),)

    (took,) = await in_turns(sides, rounds, measure)
    return [took.times("actions_300_with_video", 1.15, "s")], "Playwright" if python else "raw CDP"


async def screen_bars(sides: dict[str, Subject], pages: dict[str, Page], scratch: Path) -> list[Bar]:
    still, busy, plainly = [], [], []
    for _ in range(COSTLY_ROUNDS):
        await pages["on"].open(f"http://{HOST}/still")
        await asyncio.sleep(1)
        still.append(await cpu.recording(sides["on"]))
        for page in pages.values():
            await page.open(f"http://{HOST}/busy")
        busy.append(await cpu.recording(sides["on"]))
        plainly.append(await cpu.grabbing(sides["off"], scratch / "plain.mp4"))
        for page in pages.values():
            await page.open(f"http://{HOST}/still")
    ratio = median(busy) / median(plainly)
    return [
        Bar("still_screen_cpu", median(still), 3.0, "% of a core", "session, encoder and display"),
        Bar("busy_screen_cpu", ratio, 1.0, "times", f"x11grab {median(plainly):.1f} → {median(busy):.1f} %"),
    ]


async def run_bars(output: Path, rounds: int) -> list[Bar]:
    null = [await runs.null_run(output) for _ in range(rounds)]
    match = [await runs.from_match_to_exit(output) for _ in range(rounds)]
    return [
        Bar("null_run", median(null), 4.0, "s", f"command to exit, {min(null):.2f} to {max(null):.2f}"),
        Bar("match_to_exit", median(match), 2.0, "s", f"{min(match):.2f} to {max(match):.2f}"),
    ]


def record_bars(subject: Subject, times: int) -> list[Bar]:
    """What the recorder kept of the actions, once the session is closed."""
    assert subject.run is not None
    pictures = subject.run.screenshot_count()
    expected = ACTIONS * times
    return [
        Bar("screenshots_per_300", pictures / times, ACTIONS, "", f"of {expected} actions", at_least=True)
    ]


async def measure_all(rounds: int, parts: Collection[str], scratch: Path) -> tuple[list[Bar], str]:
    bars: list[Bar] = []
    driver = "nothing"
    if {"pages", "screens", "actions"} & set(parts):
        say("two browsers start")
        async with AsyncExitStack() as stack:
            site = await stack.enter_async_context(running_site(scratch))
            off = await stack.enter_async_context(plain(scratch / "off", site))
            async with recorded(scratch / "on", site) as on:
                sides = {"on": on, "off": off}
                bars += await loaded_bars(sides, rounds, parts, scratch)
                if "actions" in parts:
                    say("actions")
                    acted, driver = await action_bars(sides, COSTLY_ROUNDS)
                    bars += acted
        bars += record_bars(on, COSTLY_ROUNDS) if "actions" in parts else []
    if "runs" in parts:
        say("whole runs")
        bars += await run_bars(scratch / "runs", COSTLY_ROUNDS)
    return bars, driver


async def loaded_bars(
    sides: dict[str, Subject], rounds: int, parts: Collection[str], scratch: Path
) -> list[Bar]:
    """What is measured in pages that a plain client opens."""
    bars: list[Bar] = []
    async with first_page(sides["on"].endpoint) as page_on, first_page(sides["off"].endpoint) as page_off:
        pages = {"on": page_on, "off": page_off}
        if "pages" in parts:
            say("pages")
            bars += await page_bars(sides, pages, rounds)
        if "screens" in parts:
            say("screens")
            bars += await screen_bars(sides, pages, scratch)
    return bars


def say(what: str) -> None:
    print(f"measuring: {what} …", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="how often a page is measured on each side"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="measure these parts alone")
    options = parser.parse_args()
    rounds = options.rounds
    with tempfile.TemporaryDirectory(prefix="clawbench-bench-") as scratch:
        bars, driver = asyncio.run(measure_all(rounds, options.only, Path(scratch)))
    print(report(bars, benchmark="browser", rounds=rounds, actions_driven_through=driver))


if __name__ == "__main__":
    main()
