"""What the gateway adds to a model call: `./run.sh bench gateway [--rounds N] [--calls N]`.

The same calls go to a model's API directly, through the gateway, and through LiteLLM's proxy, in turns. A
table is printed, and last a line of JSON with every bar.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median, quantiles

from bench.bars import Bar, report
from bench.gateway.client import digest_sent, sequential, stream_all
from bench.gateway.subjects import LITELLM, Subject, gateway, litellm, model_api

ROUNDS = 6
CALLS_PER_ROUND = 150
STREAMS_PER_ROUND = 4
CHUNKS_PER_ROUND = 100
RATE = 50
CROWD = 200
CROWD_S = 5
MEMORY_CALLS = 10_000
MEMORY_MB = 4.0


def percentile(values: list[float], percent: int) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def in_turn(subjects: list[Subject], number: int) -> list[Subject]:
    """Another one first in every round."""
    first = number % len(subjects)
    return subjects[first:] + subjects[:first]


async def call_bars(subjects: list[Subject], rounds: int) -> list[Bar]:
    took: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for number in range(-1, rounds):
        for subject in in_turn(subjects, number):
            values = await asyncio.to_thread(sequential, subject, range(CALLS_PER_ROUND))
            took[subject.name] += values if number >= 0 else []
    p50 = {name: median(values) for name, values in took.items()}
    p99 = {name: percentile(values, 99) for name, values in took.items()}
    added = p50["gateway"] - p50["direct"]
    bars = [
        Bar("call_p50", added, 3.0, "ms more", f"{p50['direct']:.2f} → {p50['gateway']:.2f} ms"),
        Bar("call_p99", p99["gateway"] - p99["direct"], 15.0, "ms more", _change(p99)),
    ]
    if "litellm" in p50:
        times = (p50["litellm"] - p50["direct"]) / added
        what = f"LiteLLM's proxy adds {p50['litellm'] - p50['direct']:.2f} ms, p99 {_added(p99):.2f} ms"
        bars.append(Bar("litellm_adds", times, 5.0, "times as much", what, at_least=True))
    return bars


def _change(values: dict[str, float]) -> str:
    return f"{values['direct']:.2f} → {values['gateway']:.2f} ms"


def _added(values: dict[str, float]) -> float:
    return values["litellm"] - values["direct"]


async def chunk_bars(subjects: list[Subject], rounds: int) -> list[Bar]:
    delays: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for number in range(rounds):
        for subject in in_turn(subjects, number):
            streams = await stream_all(subject, range(STREAMS_PER_ROUND), CHUNKS_PER_ROUND, RATE)
            delays[subject.name] += [delay for stream in streams for delay in stream.delays_ms()]
    p50 = {name: median(values) for name, values in delays.items()}
    beside = f"; LiteLLM's proxy {_added(p50):.2f} ms more" if "litellm" in p50 else ""
    what = f"{STREAMS_PER_ROUND} streams, {_change(p50)}{beside}"
    return [Bar("chunk_p50", p50["gateway"] - p50["direct"], 0.5, "ms more", what)]


async def crowd_bars(direct: Subject, subject: Subject) -> list[Bar]:
    """Many streams at once: every byte, in its place, and in time."""
    streams = await stream_all(subject, range(1000, 1000 + CROWD), CROWD_S * RATE, RATE)
    wrong = sum(stream.digest() != digest_sent(direct, stream.number) for stream in streams)
    delays = [delay for stream in streams for delay in stream.delays_ms()]
    expected = CROWD * CROWD_S * RATE
    late = f"p50 {median(delays):.1f} ms, p99 {percentile(delays, 99):.1f} ms after it was sent"
    return [
        Bar("streams_with_a_wrong_byte", wrong, 0, f"of {CROWD}", f"{RATE} chunks/s each, {late}"),
        Bar("chunks_that_came", len(delays), expected, "", f"of {expected}", at_least=True),
    ]


async def memory_bars(subject: Subject, calls: int) -> list[Bar]:
    """One long run, every call with something new in it; a tenth of the calls first, to warm up."""
    await subject.open_run()
    warm = calls // 10
    await asyncio.to_thread(sequential, subject, range(warm))
    seen = [subject.memory_mb()]
    for part in range(10):
        await asyncio.to_thread(sequential, subject, range(warm * (part + 1), warm * (part + 2)))
        seen.append(subject.memory_mb())
    what = f"over {calls} calls of one run, {seen[0]:.1f} → {seen[-1]:.1f} MB, most {max(seen):.1f} MB"
    return [Bar("memory_growth", seen[-1] - seen[0], MEMORY_MB, "MB", what)]


async def measure_all(rounds: int, calls: int, scratch: Path) -> tuple[list[Bar], bool]:
    async with AsyncExitStack() as stack:
        say("the three start")
        direct = await stack.enter_async_context(model_api())
        ours = await stack.enter_async_context(gateway(direct, scratch / "runs"))
        other = await stack.enter_async_context(litellm(direct, scratch))
        subjects = [direct, ours, *([other] if other else [])]
        say("calls")
        bars = await call_bars(subjects, rounds)
        say("streams")
        bars += await chunk_bars(subjects, rounds)
        say(f"{CROWD} streams at once")
        bars += await crowd_bars(direct, ours)
        say("memory")
        # A fresh one: what the crowd needed would hide what is added.
        fresh = await stack.enter_async_context(gateway(direct, scratch / "memory"))
        bars += await memory_bars(fresh, calls)
    return bars, other is not None


def say(what: str) -> None:
    print(f"measuring: {what} …", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each side is measured")
    parser.add_argument("--calls", type=int, default=MEMORY_CALLS, help="for the memory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clawbench-bench-") as scratch:
        bars, compared = asyncio.run(measure_all(given.rounds, given.calls, Path(scratch)))
    beside = LITELLM if compared else "LiteLLM could not be installed"
    print(report(bars, benchmark="gateway", rounds=given.rounds, beside=beside))


if __name__ == "__main__":
    main()
