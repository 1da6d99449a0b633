"""Which harnesses there are: ours, and those of any installed package, through entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from clawbench.errors import InputError
from clawbench.harnesses.protocol import Harness

GROUP = "clawbench.harnesses"


def harness_names() -> list[str]:
    return sorted(_entries())


def get_harness(name: str) -> Harness:
    """A new adapter for the harness of that name."""
    entries = _entries()
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none; is clawbench installed?"
        raise InputError(f"no harness is called {name!r}", remedy=f"Known harnesses: {known}")
    try:
        harness: Harness = entries[name].load()()
    except Exception as error:
        raise InputError(
            f"harness {name!r} cannot be loaded from {entries[name].value} ({error!r})",
            remedy="Reinstall or update the package that provides it",
        ) from error
    return harness


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def asks_model(harness: Harness) -> bool:
    """Whether it needs a model; a harness that does not says `asks_model = False`."""
    return bool(getattr(harness, "asks_model", True))
