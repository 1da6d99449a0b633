"""What an adapter adds to its harness: `./run.sh bench harnesses [NAME…] [--rounds N]`.

Each installed harness changes one line of a file, told to by a scripted model: started by hand from a
configuration that is there, and through its adapter, without and with the sandbox, in turns. A table is
printed, and last a line of JSON with every bar.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from statistics import median

from bench.bars import Bar, report
from bench.harnesses.ways import ADAPTER, BY_HAND, WAYS, timed

from clawbench.errors import MissingPartError
from clawbench.harnesses import asks_model, get_harness, harness_names, installed_hash
from clawbench.harnesses.program import ProgramHarness
from clawbench.runner import open_host

ROUNDS = 5
LIMIT_S = 1.0


async def measure(name: str, rounds: int) -> list[Bar]:
    took: dict[str, list[float]] = {way.name: [] for way in WAYS}
    async with open_host() as host:
        for number in range(-1, rounds):  # the first is to warm up
            for way in WAYS[number % len(WAYS) :] + WAYS[: number % len(WAYS)]:
                seconds = await timed(host, name, way)
                took[way.name] += [seconds] if number >= 0 else []
    middle = {way: median(values) for way, values in took.items()}
    plain, sandboxed = middle[ADAPTER] - middle[BY_HAND], middle[WAYS[2].name] - middle[BY_HAND]
    what = f"{middle[BY_HAND]:.2f} s by hand"
    return [
        Bar(f"{name}", plain, LIMIT_S, "s more", f"{what} → {middle[ADAPTER]:.2f} s"),
        Bar(f"{name}_sandboxed", sandboxed, LIMIT_S, "s more", f"{what} → {middle[WAYS[2].name]:.2f} s"),
    ]


def installed(names: Sequence[str]) -> list[str]:
    """Those that change files and are there."""
    found = []
    for name in names or harness_names():
        harness = get_harness(name)
        if isinstance(harness, ProgramHarness) and "coding" in harness.kinds and asks_model(harness):
            try:
                installed_hash(harness)
                found.append(name)
            except MissingPartError as error:
                say(f"left out: {error}")
    return found


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="harnesses (default: every installed one)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each way is measured")
    given = parser.parse_args()
    bars: list[Bar] = []
    for name in installed(given.names):
        say(f"measuring: {name} …")
        bars += asyncio.run(measure(name, given.rounds))
    print(report(bars, benchmark="harnesses", rounds=given.rounds))


if __name__ == "__main__":
    main()
