"""The paths of `expect`: which value of a request is meant."""

from __future__ import annotations

import re

Step = str | int

_STEP = re.compile(
    r"""\[\s*(?P<index>-?\d+)\s*\]"""
    r"""|\[\s*(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]"""
    r"""|\.?(?P<name>[^.\[\]]+)"""
)


def parse_path(path: str) -> list[Step]:
    """`body.items[0]["a.b"]` -> body, items, 0, a.b. A path that cannot be read is an error."""
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"path {path!r} cannot be read at {path[position:]!r}")
        if match["index"] is not None:
            steps.append(int(match["index"]))
        elif match["quoted"] is not None:
            steps.append(re.sub(r"\\(.)", r"\1", match["quoted"][1:-1]))
        else:
            steps.append(match["name"])
        position = match.end()
    return steps
