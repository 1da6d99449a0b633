"""What preparing and judging a coding task costs: `./run.sh bench coding [--commits N] [--no-gc]`.

On a generated repository about the size of Django's (made once, below .clawbench/bench), or on the mirror
that CLAWBENCH_BENCH_MIRROR names. A table is printed, and last a line of JSON with every bar.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.bars import Bar, report
from bench.coding import judging
from bench.coding.history import generated
from bench.coding.preparing import coding_task, collect_garbage, commit_at, prepare

COMMITS = 35_000
ROUNDS = 3
JUDGING_ROUNDS = 2
MIRROR = "CLAWBENCH_BENCH_MIRROR"
KEPT = Path(__file__).resolve().parent.parent / ".clawbench" / "bench"


async def preparing_bars(source: Path, base: str, scratch: Path, *, gc: bool) -> tuple[list[Bar], int]:
    task = coding_task(source, base)
    fresh, again = [], []
    for number in range(ROUNDS):
        say(f"preparing, {number + 1} of {ROUNDS}")
        took, objects = await prepare(task, source, scratch / "fresh", cache=None)
        fresh.append(took)
    cache = scratch / "cache"
    await prepare(task, source, scratch / "first", cache)
    for _ in range(ROUNDS):
        again.append((await prepare(task, source, scratch / "again", cache))[0])
    bars = [Bar("prepared_again", median(again), 3.0, "s", f"{min(again):.2f} to {max(again):.2f}")]
    if gc:
        say("git gc --aggressive, which takes minutes")
        collected = collect_garbage(source, scratch / "gc.git")
        what = f"git gc --aggressive {collected:.1f} s → {median(fresh):.2f} s with proof"
        bars.insert(0, Bar("preparing", median(fresh) / collected, 0.05, "times", what))
    return bars, objects


async def judging_bar(source: Path, base: str, scratch: Path) -> Bar:
    """In turns, the other one first in every second round."""
    ids = judging.test_ids()
    modules = judging.test_modules()
    task = coding_task(
        source,
        base,
        test_command="{unittest}",
        FAIL_TO_PASS=ids[:1],
        PASS_TO_PASS=ids[1:],
        test_patch=judging.added(modules),
    )
    checkout = check_out(source, base, scratch / "checkout", modules)
    cache = scratch / "cache"
    say("tests without a fix, once")
    await judging.judged(task, source, scratch / "before", cache)
    bare, judged = [], []
    for number in range(JUDGING_ROUNDS):
        say(f"judging, {number + 1} of {JUDGING_ROUNDS}")
        if number % 2:
            bare.append(judging.bare(checkout))
        judged.append(await judging.judged(task, source, scratch / f"judged-{number}", cache))
        if not number % 2:
            bare.append(judging.bare(checkout))
    alone, whole = median(bare), median(judged)
    what = f"{len(ids)} tests {alone:.1f} s → verdict {whole:.1f} s, {whole - alone:.2f} s more"
    return Bar("evaluator_overhead", (whole / alone - 1) * 100, 5.0, "% more", what)


def check_out(source: Path, base: str, target: Path, modules: dict[str, str]) -> Path:
    subprocess.run(["git", "clone", "-q", "--shared", "-n", source, target], check=True)
    subprocess.run(["git", "checkout", "-q", base], cwd=target, check=True)
    for name, text in {**modules, judging.FIX: ""}.items():
        (target / name).parent.mkdir(exist_ok=True)
        (target / name).write_text(text)
    return target


async def measure_all(source: Path, base: str, scratch: Path, *, gc: bool) -> tuple[list[Bar], int]:
    bars, objects = await preparing_bars(source, base, scratch, gc=gc)
    return [*bars, await judging_bar(source, base, scratch)], objects


def say(what: str) -> None:
    print(f"measuring: {what} …", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=COMMITS, help="of the generated repository")
    parser.add_argument("--no-gc", action="store_true", help="leave out git gc, and the bar that needs it")
    given = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    if mirror := os.environ.get(MIRROR):
        source, behind = Path(mirror).resolve(), 500
    else:
        say(f"a repository of {given.commits} commits, made once")
        source, behind = generated(given.commits, KEPT), given.commits // 20
    base = commit_at(source, f"HEAD~{behind}")
    scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=KEPT))
    try:
        bars, objects = asyncio.run(measure_all(source, base, scratch, gc=not given.no_gc))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(report(bars, benchmark="coding", source="mirror" if mirror else given.commits, objects=objects))


if __name__ == "__main__":
    main()
