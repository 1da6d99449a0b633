"""Run the tests by group: `python tests/groups.py [GROUP…]`; run.sh calls this for `./run.sh test`.

The group `default` is the static checks and every test without a marker. Each marker declared in
pyproject.toml is a further group; `all` is everything.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
WORKERS = 2
SCRIPTS = ("tools/prepare.py", "tools/harness_docs.py", "tools/lock_harnesses.py", "tests/groups.py")
CHECKS: tuple[tuple[str, ...], ...] = (
    ("ruff", "check", "--extend-exclude", "*.md"),
    ("ruff", "format", "--check", "--extend-exclude", "*.md"),
    ("mypy",),
    ("mypy", *SCRIPTS),
    ("lint-imports", "--no-cache", "--no-logo"),
)


def main(names: Sequence[str]) -> int:
    markers = declared_markers()
    groups = ("default", "all", *markers)
    chosen = list(dict.fromkeys(names or ["default"]))
    if unknown := [name for name in chosen if name not in groups]:
        print(f"no test group {', '.join(unknown)}; there are: {', '.join(groups)}", file=sys.stderr)
        return 2
    steps = [(" ".join(command), run_step(command)) for command in commands(chosen, markers)]
    print()
    for step, (code, seconds) in steps:
        print(f"{'ok    ' if code == 0 else 'FAILED'} {seconds:6.1f} s  {step}")
    return int(any(code for _, (code, _) in steps))


def declared_markers() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = settings["tool"]["pytest"]["ini_options"].get("markers", [])
    return [line.split(":")[0].split("(")[0].strip() for line in declared]


def commands(chosen: Sequence[str], markers: Sequence[str]) -> list[tuple[str, ...]]:
    """The programs to run for these groups, pytest once over all of them."""
    pytest = ("pytest", "-n", str(WORKERS), "-q")
    if "all" in chosen:
        return [*CHECKS, pytest]
    wanted = [name for name in chosen if name != "default"]
    if "default" not in chosen:
        return [(*pytest, "-m", " or ".join(wanted))]
    left_out = [name for name in markers if name not in wanted]
    return [*CHECKS, (*pytest, "-m", f"not ({' or '.join(left_out)})") if left_out else pytest]


def run_step(command: Sequence[str]) -> tuple[int, float]:
    print(f"\n$ {' '.join(command)}", flush=True)
    start = time.monotonic()
    code = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, check=False).returncode
    return code, time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
