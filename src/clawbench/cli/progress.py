"""One line that says what is being done: alive on a terminal, a line per step elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.markup import escape

from clawbench.cli.console import err


@contextlib.contextmanager
def shown_steps(subject: str) -> Iterator[Callable[[str], None]]:
    """A function to be told each step."""
    if not err.is_terminal:
        yield lambda step: err.print(f"{subject}: {step}", markup=False, highlight=False, soft_wrap=True)
        return
    with err.status(f"{escape(subject)}: starting") as status:
        yield lambda step: status.update(f"{escape(subject)}: {escape(step)}")
